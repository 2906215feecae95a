# Tests that need Node.js and Chromium.
set(node ${PTERON_DEPS}/node/bin/node --disable-warning=ExperimentalWarning)

# Every kernel that the GPU tests compiled also compiles in a browser.
pteron_test(tint COMMAND ${node} ${CMAKE_SOURCE_DIR}/web/tests/tint.ts ${kernel_folders})
pteron_test(tint-all COMMAND ${node} ${CMAKE_SOURCE_DIR}/web/tests/tint.ts --all ${kernel_folders})

# The browser version compiles and runs in headless Chromium.
pteron_test(wasm COMMAND ${CMAKE_SOURCE_DIR}/tools/build_web TIMEOUT 3600)
set(web ${node} ${CMAKE_SOURCE_DIR}/web/tests/web.ts)
foreach(part tests page fixtures)
  pteron_test(web-${part} COMMAND ${web} ${part} TIMEOUT 1800)
endforeach()
# Firefox takes the machine's adapter.
pteron_test(firefox-tests COMMAND ${web} tests --browser firefox ADAPTER lavapipe TIMEOUT 1800)
pteron_test(firefox-page COMMAND ${web} page --browser firefox ADAPTER lavapipe TIMEOUT 1800)
pteron_test(firefox-fixtures COMMAND ${web} fixtures --browser firefox ADAPTER lavapipe TIMEOUT 1800)

# The package outside of browsers. Dawn, which Node.js gets from npm, does not take Debian's lavapipe.
set(runtimes ${CMAKE_SOURCE_DIR}/web/tests/runtimes.ts)
set(deno ${PTERON_DEPS}/deno/bin/deno run --quiet --allow-all --no-lock)
foreach(part package fixtures)
  pteron_test(node-${part} COMMAND ${node} ${runtimes} ${part} ADAPTER swiftshader TIMEOUT 1800)
  pteron_test(deno-${part} COMMAND ${deno} ${runtimes} ${part} ADAPTER lavapipe TIMEOUT 1800)
endforeach()
pteron_test(serve-page COMMAND ${node} ${CMAKE_SOURCE_DIR}/web/tests/serve_page.ts $<TARGET_FILE:pteron_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data
  ADAPTER lavapipe)
pteron_test(web-serve COMMAND ${node} ${CMAKE_SOURCE_DIR}/web/tests/serve.ts TIMEOUT 60)
pteron_test(web-package COMMAND ${node} ${CMAKE_SOURCE_DIR}/web/tests/package.ts)

# A real chat model in the browser.
pteron_test(chat-model COMMAND ${CMAKE_SOURCE_DIR}/tools/default_model smollm2)
pteron_test(web-chat COMMAND ${web} chat --model ${CMAKE_SOURCE_DIR}/build/models/smollm2.pte --native $<TARGET_FILE:pteron_cli> TIMEOUT 1800)
pteron_test(firefox-chat COMMAND ${web} chat --browser firefox --model ${CMAKE_SOURCE_DIR}/build/models/smollm2.pte --native $<TARGET_FILE:pteron_cli> ADAPTER lavapipe TIMEOUT 1800)
