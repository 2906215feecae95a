# base, format, gpu (the port's common part), graph, ops, runtime, llm: portable, without exceptions.
file(GLOB PTERON_SOURCES CONFIGURE_DEPENDS
  src/base/*.cpp src/format/*.cpp src/gpu/*.cpp src/graph/*.cpp src/ops/*.cpp src/ops/passes/*.cpp src/runtime/*.cpp
  src/llm/*.cpp src/llm/*/*.cpp)
if(NOT PTERON_WASM)
  file(GLOB converter CONFIGURE_DEPENDS src/convert/*.cpp)
  list(APPEND PTERON_SOURCES ${converter})
endif()
list(FILTER PTERON_SOURCES EXCLUDE REGEX "_(test|linux|native|wasm)\\.cpp$")

add_library(pteron_core OBJECT ${PTERON_SOURCES} ${PTERON_GENERATED}/kernels.cpp ${PTERON_GENERATED}/unicode_tables.cpp)
set_source_files_properties(${PTERON_GENERATED}/kernels.cpp PROPERTIES GENERATED TRUE)
add_dependencies(pteron_core pteron_generated)
target_include_directories(pteron_core PUBLIC include src ${PTERON_GENERATED})
target_compile_options(pteron_core PRIVATE -fno-exceptions)
# Sampling gives the same tokens everywhere, so its sums must not be fused on some machines.
set_source_files_properties(src/llm/sampling/portable_math.cpp src/llm/sampling/candidates.cpp
  src/llm/sampling/sampler.cpp
  PROPERTIES COMPILE_OPTIONS -ffp-contract=off SKIP_PRECOMPILE_HEADERS ON)
# Reading the standard library is a third of the work of compiling a file.
target_precompile_headers(pteron_core PRIVATE <algorithm> <array> <cmath> <cstring> <expected> <functional> <map> <memory>
  <optional> <span> <string> <string_view> <unordered_map> <variant> <vector>)
target_compile_definitions(pteron_core PUBLIC PTERON_VERSION="${PROJECT_VERSION}" JSON_NOEXCEPTION)
target_link_libraries(pteron_core PRIVATE pteron_warnings)
if(PTERON_WASM)
  target_include_directories(pteron_core SYSTEM PUBLIC ${PTERON_WASM_INCLUDES})
endif()
