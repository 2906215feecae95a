# What the Python package holds besides its modules; setup.py installs it with `cmake --install --component python`.
file(STRINGS pins.txt pin REGEX "^plugin +pip +executorch ")
string(REGEX REPLACE ".* " "" PTERON_EXECUTORCH_VERSION "${pin}")
configure_file(python/_build.py.in ${CMAKE_BINARY_DIR}/_build.py @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/_build.py DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
install(PROGRAMS ${PTERON_WGPU_LIBRARY} DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS pteron_cli RUNTIME DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS pteron_c LIBRARY DESTINATION . COMPONENT python NAMELINK_SKIP EXCLUDE_FROM_ALL)
if(TARGET pteron_executorch)
  install(TARGETS pteron_executorch LIBRARY DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
endif()

# The package as links, for tests: build/<preset>/python on PYTHONPATH.
file(GLOB python_modules CONFIGURE_DEPENDS python/pteron/*.py python/pteron/py.typed)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/python/pteron)
foreach(file ${python_modules} ${CMAKE_BINARY_DIR}/_build.py ${CMAKE_BINARY_DIR}/pteron ${CMAKE_BINARY_DIR}/libpteron.so.1
    ${PTERON_WGPU_LIBRARY} ${CMAKE_BINARY_DIR}/libpteron_executorch.so)
  get_filename_component(name ${file} NAME)
  file(CREATE_LINK ${file} ${CMAKE_BINARY_DIR}/python/pteron/${name} SYMBOLIC)
endforeach()
