# What `cmake --install` puts into a prefix, and the packages hold: the command, both libraries, headers, CMake's files.
include(CMakePackageConfigHelpers)
add_custom_target(installable DEPENDS pteron_c pteron_cli)  # `cmake --install` builds nothing itself
install(TARGETS pteron_c EXPORT pteron-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS pteron_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(PROGRAMS ${PTERON_WGPU_LIBRARY} DESTINATION ${PTERON_PRIVATE_LIBDIR})
install(DIRECTORY include/pteron DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Elsewhere, programs are compiled with other compilers than ours, which can use the C interface alone.
if(WIN32 OR APPLE)
  return()
endif()
add_dependencies(installable pteron)
install(TARGETS pteron EXPORT pteron-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT pteron-targets NAMESPACE pteron:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pteron)
configure_package_config_file(cmake/pteron-config.cmake.in ${CMAKE_BINARY_DIR}/pteron-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pteron PATH_VARS PTERON_PRIVATE_LIBDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/pteron-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/pteron-config.cmake ${CMAKE_BINARY_DIR}/pteron-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pteron)
