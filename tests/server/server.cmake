# `pteron serve`, with clients of an environment of their own (tools/setup serve).
set(clients ${CMAKE_SOURCE_DIR}/build/serve/venv/bin/python)
foreach(subject http openai running)
  pteron_test(serve-${subject} ADAPTER lavapipe
    COMMAND ${clients} ${CMAKE_CURRENT_SOURCE_DIR}/server/test_${subject}.py $<TARGET_FILE:pteron_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data)
endforeach()
