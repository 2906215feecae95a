# What the browser build has instead of the native port.

# A page waits for the download; the work is done by the GPU.
set(CMAKE_CXX_FLAGS_RELEASE "-Oz -DNDEBUG")

# Header-only libraries, without the folder around them that belongs to the host's C library.
set(PTERON_HOST_INCLUDES /usr/include CACHE PATH "Where the host's header-only libraries are")
set(PTERON_WASM_INCLUDES ${CMAKE_BINARY_DIR}/include)
foreach(library flatbuffers nlohmann)
  if(NOT EXISTS ${PTERON_HOST_INCLUDES}/${library})
    message(FATAL_ERROR "${PTERON_HOST_INCLUDES}/${library} is missing; run tools/setup build first")
  endif()
  file(COPY ${PTERON_HOST_INCLUDES}/${library} DESTINATION ${PTERON_WASM_INCLUDES})
endforeach()

file(GLOB PTERON_BROWSER_SOURCES CONFIGURE_DEPENDS
  src/base/*_wasm.cpp src/runtime/*_wasm.cpp src/gpu/browser/*.cpp src/wasm/*.cpp)
add_executable(pteron_wasm ${PTERON_BROWSER_SOURCES} $<TARGET_OBJECTS:pteron_core>)
set_target_properties(pteron_wasm PROPERTIES OUTPUT_NAME pteron SUFFIX .wasm)
add_dependencies(pteron_wasm pteron_generated)
target_include_directories(pteron_wasm PRIVATE include src ${PTERON_GENERATED})
target_include_directories(pteron_wasm SYSTEM PRIVATE ${PTERON_WASM_INCLUDES})
target_compile_definitions(pteron_wasm PRIVATE JSON_NOEXCEPTION)
target_link_libraries(pteron_wasm PRIVATE pteron_warnings)
# The stack comes first in memory, so that overflowing it traps instead of changing data.
target_link_options(pteron_wasm PRIVATE -Wl,--stack-first,-z,stack-size=1048576,--max-memory=4294967296)
