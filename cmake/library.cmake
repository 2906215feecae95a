# base, format, gpu (the port's common part), graph, ops, runtime, llm: portable, without exceptions.
file(GLOB PTERON_SOURCES CONFIGURE_DEPENDS
  src/base/*.cpp src/format/*.cpp src/gpu/*.cpp src/graph/*.cpp src/ops/*.cpp src/ops/passes/*.cpp src/runtime/*.cpp
  src/llm/*.cpp src/llm/*/*.cpp)
if(NOT PTERON_WASM)
  file(GLOB converter CONFIGURE_DEPENDS src/convert/*.cpp)
  list(APPEND PTERON_SOURCES ${converter})
endif()
list(FILTER PTERON_SOURCES EXCLUDE REGEX "_(test|linux|macos|posix|windows|native|wasm)\\.cpp$")
set(unicode_tables ${PTERON_GENERATED}/unicode_tables.cpp)
if(PTERON_WASM)
  # Language models are a module of their own, which a page loads when it opens one.
  set(PTERON_LANGUAGE_SOURCES ${PTERON_SOURCES})
  list(FILTER PTERON_LANGUAGE_SOURCES INCLUDE REGEX "/src/llm/")
  list(FILTER PTERON_LANGUAGE_SOURCES EXCLUDE REGEX "/llm/(json/.*|model_info|text/python_float)\\.cpp$")
  list(REMOVE_ITEM PTERON_SOURCES ${PTERON_LANGUAGE_SOURCES})
  list(APPEND PTERON_LANGUAGE_SOURCES src/wasm/chat.cpp ${unicode_tables})
else()
  list(APPEND PTERON_SOURCES ${unicode_tables})
endif()

function(pteron_objects name)
  add_library(${name} OBJECT ${ARGN})
  add_dependencies(${name} pteron_generated)
  target_include_directories(${name} PUBLIC include src ${PTERON_GENERATED})
  target_compile_options(${name} PRIVATE -fno-exceptions)
  # Reading the standard library is a third of the work of compiling a file.
  target_precompile_headers(${name} PRIVATE <algorithm> <array> <cmath> <cstring> <expected> <functional> <map> <memory>
    <optional> <span> <string> <string_view> <unordered_map> <variant> <vector>)
  target_compile_definitions(${name} PUBLIC PTERON_VERSION="${PROJECT_VERSION}" JSON_NOEXCEPTION)
  target_link_libraries(${name} PRIVATE pteron_warnings)
endfunction()

set_source_files_properties(${PTERON_GENERATED}/kernels.cpp PROPERTIES GENERATED TRUE)
# Sampling gives the same tokens everywhere, so its sums must not be fused on some machines.
set_source_files_properties(src/llm/sampling/portable_math.cpp src/llm/sampling/candidates.cpp
  src/llm/sampling/sampler.cpp
  PROPERTIES COMPILE_OPTIONS -ffp-contract=off SKIP_PRECOMPILE_HEADERS ON)
pteron_objects(pteron_core ${PTERON_SOURCES} ${PTERON_GENERATED}/kernels.cpp)
