# Tests that need Node.js and Chromium.
set(node ${PTERON_DEPS}/node/bin/node)

# Every kernel that the GPU tests compiled also compiles in a browser.
add_test(NAME tint COMMAND ${node} ${CMAKE_SOURCE_DIR}/web/tests/tint.ts ${kernel_folders})
set_tests_properties(tint PROPERTIES TIMEOUT 600 FIXTURES_REQUIRED kernels)

# The browser version compiles and runs in headless Chromium.
add_test(NAME wasm COMMAND ${CMAKE_SOURCE_DIR}/tools/build_web)
set_tests_properties(wasm PROPERTIES TIMEOUT 3600 FIXTURES_SETUP wasm)
set(web ${node} --disable-warning=ExperimentalWarning ${CMAKE_SOURCE_DIR}/web/tests/web.ts)
foreach(part tests page fixtures)
  add_test(NAME web-${part} COMMAND ${web} ${part})
  set_tests_properties(web-${part} PROPERTIES TIMEOUT 1800 FIXTURES_REQUIRED wasm)
endforeach()

add_test(NAME web-serve COMMAND ${node} --disable-warning=ExperimentalWarning ${CMAKE_SOURCE_DIR}/web/tests/serve.ts)
set_tests_properties(web-serve PROPERTIES TIMEOUT 60 FIXTURES_REQUIRED wasm)
add_test(NAME web-package COMMAND ${node} ${CMAKE_SOURCE_DIR}/web/tests/package.ts)
set_tests_properties(web-package PROPERTIES TIMEOUT 600 FIXTURES_REQUIRED wasm)

# A real chat model in the browser.
set(models ${CMAKE_SOURCE_DIR}/build/models)
add_test(NAME chat-model COMMAND pteron_cli convert ${models}/SmolLM2-135M-Instruct.Q4_1.gguf -o ${models}/smollm2.pte)
set_tests_properties(chat-model PROPERTIES TIMEOUT 600 FIXTURES_SETUP chat_model)
add_test(NAME web-chat COMMAND ${web} chat --model ${models}/smollm2.pte --native $<TARGET_FILE:pteron_cli>)
set_tests_properties(web-chat PROPERTIES TIMEOUT 1800 FIXTURES_REQUIRED "wasm;chat_model")
