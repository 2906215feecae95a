# The packages, and what they offer: the C interface and the Python package.
enable_language(C)
add_executable(c_test package/c_test.c)
set_target_properties(c_test PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_compile_options(c_test PRIVATE -Wall -Wextra -Wpedantic -Werror)
target_link_libraries(c_test PRIVATE pteron_c)
pteron_test(c-api COMMAND c_test ${CMAKE_CURRENT_SOURCE_DIR}/data ADAPTER lavapipe)

set(package_work ${CMAKE_BINARY_DIR}/package)
pteron_test(packages COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/package/test_packages.py ${CMAKE_SOURCE_DIR} ${package_work})
pteron_test(wheel ADAPTER lavapipe COMMAND
  ${python} ${CMAKE_CURRENT_SOURCE_DIR}/package/test_wheel.py ${CMAKE_SOURCE_DIR} ${package_work}/packages ${CMAKE_BINARY_DIR}/wheel-check)
# Packages for other systems: each is built whole, so that takes a while.
set(cross ${CMAKE_CURRENT_SOURCE_DIR}/package/cross)
set(given ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/cross $<TARGET_FILE:pteron_cli>)
pteron_test(cross-arm64 TIMEOUT 7200 COMMAND ${Python3_EXECUTABLE} ${cross}/test_linux_arm64.py ${given})
pteron_test(cross-windows ADAPTER lavapipe TIMEOUT 7200 COMMAND
  ${python} ${cross}/test_windows.py ${given} ${CMAKE_SOURCE_DIR}/build/models/smollm2.pte)
foreach(system arm64 x64)
  pteron_test(cross-macos-${system} TIMEOUT 7200 COMMAND ${Python3_EXECUTABLE} ${cross}/test_macos.py ${given} macos-${system})
endforeach()
pteron_test(npm-package COMMAND
  ${CMAKE_CURRENT_SOURCE_DIR}/package/npm.sh ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/npm-check)
