# wgpu-native: a shared library and webgpu.h, from the PyPI package `wgpu` (tools/setup).
set(PTERON_WGPU "${PTERON_DEPS}/wgpu" CACHE PATH "Where wgpu-native for this system is")
if(NOT EXISTS ${PTERON_WGPU}/webgpu.h)
  message(FATAL_ERROR "wgpu-native is not in ${PTERON_WGPU}; run tools/setup build first, or the group of the system that you build for")
endif()
set(wgpu_file ${CMAKE_SHARED_LIBRARY_PREFIX}wgpu_native${CMAKE_SHARED_LIBRARY_SUFFIX})
# Beside the programs, so that a moved build folder still runs.
set(PTERON_WGPU_LIBRARY ${CMAKE_BINARY_DIR}/${wgpu_file})
configure_file(${PTERON_WGPU}/${wgpu_file} ${PTERON_WGPU_LIBRARY} COPYONLY)
add_library(wgpu_native SHARED IMPORTED)
set_target_properties(wgpu_native PROPERTIES
  IMPORTED_LOCATION ${PTERON_WGPU}/${wgpu_file}
  IMPORTED_IMPLIB ${PTERON_WGPU}/${wgpu_file}  # MinGW's linker takes the library itself
  IMPORTED_NO_SONAME TRUE
  INTERFACE_INCLUDE_DIRECTORIES ${PTERON_WGPU})
