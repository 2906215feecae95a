# What the page calls, as a native program would.
set(PTERON_WASM_INTERFACE)
foreach(name chat engine language method program)
  list(APPEND PTERON_WASM_INTERFACE ${CMAKE_SOURCE_DIR}/src/wasm/${name}.cpp)
endforeach()
