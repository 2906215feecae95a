# docs/adding-an-op.md, done as it says to a copy of src/ops. What is built here stands before what is in the library.
set(example ${CMAKE_CURRENT_BINARY_DIR}/adding_an_op)
set(page ${CMAKE_SOURCE_DIR}/docs/adding-an-op.md)
set(example_sources ${example}/ops/scale_rows.cpp ${example}/ops/scale_rows_test.cpp ${example}/ops/unary.cpp
  ${example}/generated/kernels.cpp)
add_custom_command(
  OUTPUT ${example_sources} ${example}/generated/kernels.h
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/extract.py ${page} ${CMAKE_SOURCE_DIR}/src/ops ${example}/ops
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_kernels.py ${example}/ops ${example}/generated
  COMMAND ${CMAKE_COMMAND} -E touch ${example_sources}
  DEPENDS ${page} ${CMAKE_CURRENT_SOURCE_DIR}/docs/extract.py ${CMAKE_SOURCE_DIR}/tools/embed_kernels.py
    ${PTERON_KERNELS} ${PTERON_OP_SOURCES}
  VERBATIM)
add_executable(docs_tests ${example_sources} docs/softsign_test.cpp gpu/environment.cpp)
target_include_directories(docs_tests BEFORE PRIVATE ${example}/generated)
target_compile_options(docs_tests PRIVATE -O1)
target_link_libraries(docs_tests PRIVATE pteron_test_support GTest::gtest_main pteron_warnings)
pteron_test(docs COMMAND docs_tests ADAPTER lavapipe)

pteron_test(benchmarks COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/benchmarks_check.py ${CMAKE_SOURCE_DIR})

# Pages: links, the platform table, what the README and its doors show, what is said about programs that are not wholly for the GPU.
set(pages ${CMAKE_CURRENT_SOURCE_DIR}/docs)
pteron_test(links COMMAND ${Python3_EXECUTABLE} ${pages}/links_check.py ${CMAKE_SOURCE_DIR})
pteron_test(platforms COMMAND ${Python3_EXECUTABLE} ${pages}/platforms_check.py ${CMAKE_SOURCE_DIR})
pteron_test(reliability COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/reliability --check)
pteron_test(fuzz COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/fuzz all --seconds 20 TIMEOUT 7200)
plugin_test(core-aten COMMAND ${python} -W ignore ${pages}/core_aten.py ${CMAKE_SOURCE_DIR}/tests/support/core_aten.h)
plugin_test(exporter-ops COMMAND ${python} -W ignore ${pages}/exporter_ops.py ${CMAKE_SOURCE_DIR}/src/runtime/exporter_ops.h)
plugin_test(outside COMMAND ${python} -W ignore ${pages}/outside_check.py
  $<TARGET_FILE:pteron_cli> ${CMAKE_CURRENT_SOURCE_DIR}/data/outside)
plugin_test(readme COMMAND ${python} -W ignore ${pages}/readme_check.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${chat_model})
