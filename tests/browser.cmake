# Tests that need Node.js and Chromium.
set(node ${PTERON_DEPS}/node/bin/node)

# Every kernel that the GPU tests compiled also compiles in a browser.
add_test(NAME tint COMMAND ${node} ${CMAKE_SOURCE_DIR}/web/tests/tint.ts ${kernel_folders})
set_tests_properties(tint PROPERTIES TIMEOUT 600 FIXTURES_REQUIRED kernels)

# The browser version compiles and runs in headless Chromium.
add_test(NAME wasm COMMAND ${CMAKE_SOURCE_DIR}/tools/build_web)
set_tests_properties(wasm PROPERTIES TIMEOUT 3600 FIXTURES_SETUP wasm)
add_test(NAME web COMMAND ${node} --disable-warning=ExperimentalWarning ${CMAKE_SOURCE_DIR}/web/tests/web.ts)
set_tests_properties(web PROPERTIES TIMEOUT 1800 FIXTURES_REQUIRED wasm)
