# `pteron serve`, with clients of an environment of their own (tools/setup serve).
set(clients ${CMAKE_SOURCE_DIR}/build/serve/venv/bin/python)
foreach(subject http openai running docs load nginx)
  pteron_test(serve-${subject} ADAPTER lavapipe
    COMMAND ${clients} ${CMAKE_CURRENT_SOURCE_DIR}/server/test_${subject}.py $<TARGET_FILE:pteron_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data)
endforeach()
pteron_test(serve-soak ADAPTER lavapipe COMMAND ${clients} ${CMAKE_CURRENT_SOURCE_DIR}/server/test_soak.py
  $<TARGET_FILE:pteron_losing> ${CMAKE_CURRENT_SOURCE_DIR}/data)
# Clients that ask for other versions of what these use.
pteron_test(serve-clients ADAPTER lavapipe COMMAND ${CMAKE_SOURCE_DIR}/build/clients/venv/bin/python
  ${CMAKE_CURRENT_SOURCE_DIR}/server/test_clients.py $<TARGET_FILE:pteron_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data)
pteron_test(serve-ray ADAPTER lavapipe TIMEOUT 1800 COMMAND ${CMAKE_SOURCE_DIR}/build/ray/venv/bin/python
  ${CMAKE_CURRENT_SOURCE_DIR}/server/test_ray.py $<TARGET_FILE:pteron_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data
  ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python)

file(GLOB server_tests CONFIGURE_DEPENDS server/*_test.cpp)
add_executable(server_tests ${server_tests})
target_compile_options(server_tests PRIVATE -O1)
target_link_libraries(server_tests PRIVATE pteron_server pteron_test_support GTest::gtest_main pteron_warnings)
pteron_test(serve-engine COMMAND server_tests ADAPTER lavapipe)

pteron_test(python-llm ADAPTER lavapipe COMMAND ${python} ${CMAKE_CURRENT_SOURCE_DIR}/server/test_llm.py ${CMAKE_CURRENT_SOURCE_DIR}/data
  ENVIRONMENT PYTHONPATH=${CMAKE_BINARY_DIR}/python)

pteron_test(serve-smollm2 ADAPTER lavapipe COMMAND ${clients} ${CMAKE_CURRENT_SOURCE_DIR}/server/test_smollm2.py
  $<TARGET_FILE:pteron_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data ${CMAKE_SOURCE_DIR}/build/models/smollm2.pte)

# An encoder, exported by torch with the engine's own partitioner.
set(encoder ${CMAKE_SOURCE_DIR}/build/serve/minilm)
plugin_test(export-minilm COMMAND ${python} -W ignore ${CMAKE_CURRENT_SOURCE_DIR}/server/export_minilm.py ${PTERON_DEPS}/minilm ${encoder})
pteron_test(serve-embeddings ADAPTER lavapipe COMMAND ${clients} ${CMAKE_CURRENT_SOURCE_DIR}/server/test_embeddings.py
  $<TARGET_FILE:pteron_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data ${encoder})
