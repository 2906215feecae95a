# The packages, and what they offer: the C interface and the Python package.
enable_language(C)
add_executable(c_test package/c_test.c)
set_target_properties(c_test PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_compile_options(c_test PRIVATE -Wall -Wextra -Wpedantic -Werror)
target_link_libraries(c_test PRIVATE pteron_c)
add_test(NAME c-api COMMAND c_test ${CMAKE_CURRENT_SOURCE_DIR}/data)
set_tests_properties(c-api PROPERTIES ENVIRONMENT "${quiet};VK_ICD_FILENAMES=${lavapipe}" TIMEOUT 300)
