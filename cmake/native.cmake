# The native port, the static library and the command line.
find_package(Threads REQUIRED)
include(GNUInstallDirs)
set(CMAKE_BUILD_RPATH "${PTERON_ORIGIN}")
set(PTERON_PRIVATE_LIBDIR ${CMAKE_INSTALL_LIBDIR}/pteron)  # for what others must not link by chance
if(WIN32)
  set(PTERON_PRIVATE_LIBDIR ${CMAKE_INSTALL_BINDIR})
endif()

# What is shipped carries the C++ library, so that it runs where an older one or none is installed; libgcc stays shared,
# because wgpu-native needs it anyway and a static one asks for a newer glibc. Windows has nothing of GCC's, so there all of it is inside.
add_library(pteron_shipped INTERFACE)
if(WIN32)
  target_link_options(pteron_shipped INTERFACE -static)
elseif(NOT APPLE AND NOT PTERON_SANITIZE AND NOT PTERON_FUZZ)
  target_link_options(pteron_shipped INTERFACE -static-libstdc++)
  target_sources(pteron_shipped INTERFACE ${CMAKE_SOURCE_DIR}/src/shipped/arc4random.cpp)
endif()

file(GLOB PTERON_NATIVE_SOURCES CONFIGURE_DEPENDS src/gpu/native/*.cpp src/base/*.cpp src/runtime/*_native.cpp
  src/llm/*_native.cpp)
list(FILTER PTERON_NATIVE_SOURCES INCLUDE REGEX "/gpu/native/|_(native|${PTERON_SYSTEMS})\\.cpp$")
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

# The server of `pteron serve`; its page is compiled in.
pteron_sources(PTERON_SERVER_SOURCES src/server/*.cpp src/server/*/*.cpp)
set(page ${CMAKE_SOURCE_DIR}/src/server/page/page.html)
file(READ ${page} PTERON_PAGE)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
configure_file(src/server/page/page.cpp.in ${PTERON_GENERATED}/page.cpp @ONLY)
add_library(pteron_server STATIC ${PTERON_SERVER_SOURCES} ${PTERON_GENERATED}/page.cpp)
target_link_libraries(pteron_server PUBLIC pteron_internal PRIVATE pteron_warnings)
if(WIN32)
  target_link_libraries(pteron_server PRIVATE ws2_32)
endif()

pteron_sources(PTERON_CLI_SOURCES src/cli/*.cpp src/cli/editor/*.cpp src/selftest/*.cpp)
add_executable(pteron_cli ${PTERON_CLI_SOURCES})
set_target_properties(pteron_cli PROPERTIES OUTPUT_NAME pteron)
target_link_libraries(pteron_cli PRIVATE pteron_server pteron_internal pteron_warnings pteron_shipped)
# As in library.cmake: reading these is half of the work of compiling a file.
target_precompile_headers(pteron_cli PRIVATE <nlohmann/json.hpp> <algorithm> <array> <cmath> <cstring> <expected> <functional> <map> <memory>
  <optional> <span> <string> <string_view> <unordered_map> <variant> <vector>)
pteron_search_path(pteron_cli ../${PTERON_PRIVATE_LIBDIR})

# The engine behind a C interface, for other languages.
file(GLOB PTERON_C_SOURCES CONFIGURE_DEPENDS src/c/*.cpp)
add_library(pteron_c SHARED ${PTERON_C_SOURCES})
add_library(pteron::c ALIAS pteron_c)
set_target_properties(pteron_c PROPERTIES OUTPUT_NAME pteron EXPORT_NAME c SOVERSION 1)
target_include_directories(pteron_c PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
pteron_exports(pteron_c libpteron)
target_link_libraries(pteron_c PRIVATE $<BUILD_INTERFACE:pteron_internal> $<BUILD_INTERFACE:pteron_warnings> $<BUILD_INTERFACE:pteron_shipped>)
pteron_search_path(pteron_c pteron)

# The commit that `pteron --version` and `bench` name: made again whenever HEAD moves.
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
add_custom_target(pteron_commit DEPENDS ${PTERON_GENERATED}/commit.h)
target_sources(pteron_cli PRIVATE ${PTERON_GENERATED}/commit.h)
