# The ExecuTorch plugin: built if the wheel is installed (tools/setup export).
file(GLOB executorch_dirs ${CMAKE_SOURCE_DIR}/build/venv/lib/python3*/site-packages/executorch)
if(NOT executorch_dirs)
  message(STATUS "The executorch wheel is not installed (tools/setup export), so the plugin is not built")
  return()
endif()
list(GET executorch_dirs 0 executorch_dir)
file(GLOB plugin_sources CONFIGURE_DEPENDS executorch/*.cpp)
add_library(pteron_executorch SHARED ${plugin_sources})
target_include_directories(pteron_executorch SYSTEM PRIVATE
  ${executorch_dir}/include ${executorch_dir}/include/executorch/runtime/core/portable_type/c10)
target_compile_definitions(pteron_executorch PRIVATE C10_USING_CUSTOM_GENERATED_MACROS ET_EVENT_TRACER_ENABLED)
# Nothing of the engine is visible to the process besides the registration.
set_target_properties(pteron_executorch PROPERTIES CXX_VISIBILITY_PRESET hidden)
target_link_options(pteron_executorch PRIVATE -Wl,--exclude-libs,ALL)
target_link_libraries(pteron_executorch PRIVATE pteron_internal pteron_warnings ${executorch_dir}/lib/libexecutorch.so)
set_target_properties(pteron_executorch PROPERTIES BUILD_RPATH "$ORIGIN;${executorch_dir}/lib" INSTALL_RPATH "$ORIGIN")
