# What the browser build has instead of the native port.

# Header-only libraries, without the folder around them that belongs to the host's C library.
set(PTERON_HOST_INCLUDES /usr/include CACHE PATH "Where the host's header-only libraries are")
set(PTERON_WASM_INCLUDES ${CMAKE_BINARY_DIR}/include)
foreach(library flatbuffers nlohmann)
  if(NOT EXISTS ${PTERON_HOST_INCLUDES}/${library})
    message(FATAL_ERROR "${PTERON_HOST_INCLUDES}/${library} is missing; run tools/setup build first")
  endif()
  file(COPY ${PTERON_HOST_INCLUDES}/${library} DESTINATION ${PTERON_WASM_INCLUDES})
endforeach()

file(GLOB PTERON_BROWSER_SOURCES CONFIGURE_DEPENDS src/base/*_wasm.cpp src/runtime/*_wasm.cpp)
add_library(pteron_browser OBJECT ${PTERON_BROWSER_SOURCES})
target_include_directories(pteron_browser PRIVATE include src)
target_link_libraries(pteron_browser PRIVATE pteron_warnings)
