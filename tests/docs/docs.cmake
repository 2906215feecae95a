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
add_executable(docs_tests ${example_sources} docs/cosh_test.cpp gpu/environment.cpp)
target_include_directories(docs_tests BEFORE PRIVATE ${example}/generated)
target_compile_options(docs_tests PRIVATE -O1)
target_link_libraries(docs_tests PRIVATE pteron_test_support GTest::gtest_main pteron_warnings)
pteron_test(docs COMMAND docs_tests ADAPTER lavapipe)

pteron_test(benchmarks COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/benchmarks_check.py ${CMAKE_SOURCE_DIR})
