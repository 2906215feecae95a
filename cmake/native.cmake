# The native port, the static library and the command line.
find_package(Threads REQUIRED)
set(CMAKE_BUILD_RPATH "$ORIGIN")
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib")

file(GLOB PTERON_NATIVE_SOURCES CONFIGURE_DEPENDS src/gpu/native/*.cpp src/base/*_linux.cpp src/runtime/*_native.cpp
  src/llm/*_native.cpp)
add_library(pteron_native OBJECT ${PTERON_NATIVE_SOURCES})
add_dependencies(pteron_native pteron_generated)
target_include_directories(pteron_native PRIVATE include src ${PTERON_GENERATED})
target_compile_options(pteron_native PRIVATE -fno-exceptions)
target_link_libraries(pteron_native PRIVATE pteron_warnings wgpu_native)

add_library(pteron STATIC $<TARGET_OBJECTS:pteron_core> $<TARGET_OBJECTS:pteron_native>)
add_library(pteron::pteron ALIAS pteron)
target_include_directories(pteron PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_compile_features(pteron PUBLIC cxx_std_23)
target_link_libraries(pteron PUBLIC $<BUILD_INTERFACE:wgpu_native> $<BUILD_INTERFACE:Threads::Threads>)

# What the project's own programs see: also the folders under src.
add_library(pteron_internal INTERFACE)
target_link_libraries(pteron_internal INTERFACE pteron)
target_include_directories(pteron_internal INTERFACE ${CMAKE_SOURCE_DIR}/src ${PTERON_GENERATED})
add_dependencies(pteron_internal pteron_generated)

file(GLOB PTERON_CLI_SOURCES CONFIGURE_DEPENDS src/cli/*.cpp src/cli/editor/*.cpp src/selftest/*.cpp)
add_executable(pteron_cli ${PTERON_CLI_SOURCES})
set_target_properties(pteron_cli PROPERTIES OUTPUT_NAME pteron)
target_link_libraries(pteron_cli PRIVATE pteron_internal pteron_warnings)

# The commit that `pteron bench` names: made again whenever HEAD moves.
find_package(Git QUIET)
set(head)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse --path-format=absolute --git-path logs/HEAD
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT EXISTS "${head}")
  set(head)
endif()
add_custom_command(
  OUTPUT ${PTERON_GENERATED}/commit.h
  COMMAND ${CMAKE_COMMAND} -DGIT=${GIT_EXECUTABLE} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${PTERON_GENERATED}/commit.h
    -P ${CMAKE_SOURCE_DIR}/cmake/commit.cmake
  DEPENDS ${head} ${CMAKE_SOURCE_DIR}/cmake/commit.cmake
  VERBATIM)
target_sources(pteron_cli PRIVATE ${PTERON_GENERATED}/commit.h)
