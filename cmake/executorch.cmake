# The ExecuTorch plugin: built if the wheel's headers and its library are there, unpacked (tools/setup plugin) or
# installed (tools/setup export).
file(GLOB executorch_dirs CONFIGURE_DEPENDS
  ${PTERON_DEPS}/executorch/lib ${CMAKE_SOURCE_DIR}/build/venv/lib/python3*/site-packages/executorch/lib)
if(NOT executorch_dirs)
  message(STATUS "ExecuTorch is not there (tools/setup plugin), so its plugin is not built")
  return()
endif()
list(GET executorch_dirs 0 executorch_dir)
cmake_path(GET executorch_dir PARENT_PATH executorch_dir)
add_library(executorch_runtime INTERFACE)
target_include_directories(executorch_runtime SYSTEM INTERFACE
  ${executorch_dir}/include ${executorch_dir}/include/executorch/runtime/core/portable_type/c10)
target_compile_definitions(executorch_runtime INTERFACE C10_USING_CUSTOM_GENERATED_MACROS ET_EVENT_TRACER_ENABLED)
target_link_libraries(executorch_runtime INTERFACE ${executorch_dir}/lib/libexecutorch.so)

file(GLOB plugin_sources CONFIGURE_DEPENDS executorch/*.cpp)
add_library(pteron_executorch SHARED ${plugin_sources})
# Nothing of the engine is visible to the process besides the registration.
set_target_properties(pteron_executorch PROPERTIES CXX_VISIBILITY_PRESET hidden)
pteron_exports(pteron_executorch plugin)
target_link_libraries(pteron_executorch PRIVATE pteron_internal pteron_warnings pteron_shipped executorch_runtime)
# In Python, the runtime is loaded before; elsewhere it is linked beside the plugin.
pteron_search_path(pteron_executorch ../executorch/lib)
