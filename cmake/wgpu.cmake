# wgpu-native: a shared library and webgpu.h, from the PyPI package `wgpu` (tools/setup).
set(wgpu_dir ${PTERON_DEPS}/wgpu)
if(NOT EXISTS ${wgpu_dir}/webgpu.h)
  message(FATAL_ERROR "wgpu-native is not in ${wgpu_dir}; run tools/setup build first")
endif()
add_library(wgpu_native SHARED IMPORTED)
set_target_properties(wgpu_native PROPERTIES
  IMPORTED_LOCATION ${wgpu_dir}/libwgpu_native.so
  IMPORTED_NO_SONAME TRUE
  INTERFACE_INCLUDE_DIRECTORIES ${wgpu_dir})
# Beside the programs, so that a moved build folder still runs.
configure_file(${wgpu_dir}/libwgpu_native.so ${CMAKE_BINARY_DIR}/libwgpu_native.so COPYONLY)
