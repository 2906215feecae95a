# The engine against a reference interpreter, which shares nothing with it, on random graphs.
file(GLOB differential_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp ${CMAKE_CURRENT_LIST_DIR}/*/*.cpp)
add_executable(differential_tests ${differential_sources} ${CMAKE_CURRENT_LIST_DIR}/../gpu/environment.cpp)
target_compile_options(differential_tests PRIVATE -O1)
target_compile_definitions(differential_tests PRIVATE _GLIBCXX_ASSERTIONS)
target_link_libraries(differential_tests PRIVATE pteron_test_support GTest::gtest pteron_warnings)
pteron_test(differential COMMAND differential_tests ADAPTER lavapipe)
