# What the browser build has instead of the native port.

# A page waits for the download; the work is done by the GPU.
set(CMAKE_CXX_FLAGS_RELEASE "-Oz -DNDEBUG")

include(cmake/library.cmake)

# pteron_language.wasm: code that lies anywhere in the memory and the table of pteron.wasm, by the conventions of WebAssembly's
# tools for dynamic linking; web/src/link.ts is the loader. What it takes from the other module is exported there.
pteron_objects(pteron_language ${PTERON_LANGUAGE_SOURCES})
target_compile_options(pteron_language PRIVATE -fPIC -fvisibility=hidden)
find_program(WASM_LD wasm-ld-22 REQUIRED)
set(objects $<FILTER:$<TARGET_OBJECTS:pteron_language>,EXCLUDE,[.]pch$>)  # precompiled headers are among them
set(language ${CMAKE_BINARY_DIR}/pteron_language.wasm)
set(exports ${CMAKE_BINARY_DIR}/pteron_exports.txt)
set(reader ${CMAKE_SOURCE_DIR}/tools/wasm_module.py)
add_custom_command(
  OUTPUT ${language} ${exports}
  COMMAND ${WASM_LD} --shared --experimental-pic --Bsymbolic --no-entry --unresolved-symbols=import-dynamic
    ${objects} -o ${language}
  COMMAND ${Python3_EXECUTABLE} ${reader} exports ${language} ${exports}
  DEPENDS pteron_language ${objects} ${reader}
  COMMENT "Linking pteron_language.wasm"
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(pteron_language_wasm ALL DEPENDS ${language} ${exports})

file(GLOB PTERON_BROWSER_SOURCES CONFIGURE_DEPENDS
  src/base/*_wasm.cpp src/runtime/*_wasm.cpp src/gpu/browser/*.cpp src/wasm/*.cpp)
list(FILTER PTERON_BROWSER_SOURCES EXCLUDE REGEX "/src/wasm/chat\\.cpp$")
add_executable(pteron_wasm ${PTERON_BROWSER_SOURCES} $<TARGET_OBJECTS:pteron_core>)
set_target_properties(pteron_wasm PROPERTIES OUTPUT_NAME pteron SUFFIX .wasm LINK_DEPENDS ${exports})
add_dependencies(pteron_wasm pteron_generated pteron_language_wasm)
target_include_directories(pteron_wasm PRIVATE include src ${PTERON_GENERATED})
target_compile_definitions(pteron_wasm PRIVATE JSON_NOEXCEPTION)
target_link_libraries(pteron_wasm PRIVATE pteron_warnings)
# The stack comes first in memory, so that overflowing it traps instead of changing data.
target_link_options(pteron_wasm PRIVATE -Wl,--stack-first,-z,stack-size=1048576,--max-memory=4294967296
  -Wl,--export-table,--growable-table,--export=__stack_pointer,@${exports})
