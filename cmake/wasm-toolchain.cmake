# WebAssembly: Debian's clang with the C and C++ libraries that `tools/setup wasm` unpacks. Nothing of the host's
# /usr/include is visible.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)

set(wasi_sysroot ${CMAKE_CURRENT_LIST_DIR}/../build/deps/wasi-sysroot)
cmake_path(ABSOLUTE_PATH wasi_sysroot NORMALIZE)
if(NOT EXISTS "${wasi_sysroot}/include/wasm32-wasip1")
  message(FATAL_ERROR "the WASI sysroot is not in ${wasi_sysroot}; run tools/setup wasm first")
endif()
set(CMAKE_SYSROOT ${wasi_sysroot})

set(CMAKE_CXX_COMPILER clang++-22)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasip1)
set(CMAKE_CXX_FLAGS_INIT "-fno-exceptions -fno-rtti -msimd128")
# A reactor: a library with exports instead of a program with main. wasm-opt is run by hand, from npm.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-mexec-model=reactor --no-wasm-opt -nodefaultlibs")
set(CMAKE_CXX_STANDARD_LIBRARIES
  "-lc++ -lc++abi -lc \"${wasi_sysroot}/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a\"")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
