# The ExecuTorch plugin: built if the wheel is installed (tools/setup export).
file(GLOB executorch_dirs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/build/venv/lib/python3*/site-packages/executorch)
if(NOT executorch_dirs)
  message(STATUS "The executorch wheel is not installed (tools/setup export), so the plugin is not built")
  return()
endif()
list(GET executorch_dirs 0 executorch_dir)
add_library(executorch_runtime INTERFACE)
target_include_directories(executorch_runtime SYSTEM INTERFACE
  ${executorch_dir}/include ${executorch_dir}/include/executorch/runtime/core/portable_type/c10)
target_compile_definitions(executorch_runtime INTERFACE C10_USING_CUSTOM_GENERATED_MACROS ET_EVENT_TRACER_ENABLED)
target_link_libraries(executorch_runtime INTERFACE ${executorch_dir}/lib/libexecutorch.so)

file(GLOB plugin_sources CONFIGURE_DEPENDS executorch/*.cpp)
add_library(pteron_executorch SHARED ${plugin_sources})
# Nothing of the engine is visible to the process besides the registration.
set_target_properties(pteron_executorch PROPERTIES CXX_VISIBILITY_PRESET hidden)
target_link_options(pteron_executorch PRIVATE -Wl,--exclude-libs,ALL)
target_link_libraries(pteron_executorch PRIVATE pteron_internal pteron_warnings executorch_runtime)
set_target_properties(pteron_executorch PROPERTIES
  BUILD_RPATH "$ORIGIN;${executorch_dir}/lib" INSTALL_RPATH "$ORIGIN;$ORIGIN/../executorch/lib")

# What the Python package holds besides its modules.
install(TARGETS pteron_executorch LIBRARY DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${wgpu_dir}/libwgpu_native.so DESTINATION . COMPONENT python EXCLUDE_FROM_ALL)
install(FILES ${wgpu_dir}/LICENSE DESTINATION . RENAME LICENSE.wgpu-native COMPONENT python EXCLUDE_FROM_ALL)
# The package as links, for tests: build/<preset>/python on PYTHONPATH.
file(GLOB python_modules CONFIGURE_DEPENDS python/pteron/*)
foreach(file ${python_modules} ${CMAKE_BINARY_DIR}/libwgpu_native.so ${CMAKE_BINARY_DIR}/libpteron_executorch.so)
  get_filename_component(name ${file} NAME)
  if(NOT name STREQUAL __pycache__)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/python/pteron)
    file(CREATE_LINK ${file} ${CMAKE_BINARY_DIR}/python/pteron/${name} SYMBOLIC)
  endif()
endforeach()
