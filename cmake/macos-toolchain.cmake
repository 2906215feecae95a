# macOS with zig's compiler, linker and headers (tools/setup macos), which need nothing of Apple's. PTERON_MACOS says for which
# processor and from which version of the system on.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PTERON_MACOS)
set(CMAKE_CXX_COMPILER ${CMAKE_CURRENT_LIST_DIR}/zig/c++)
set(CMAKE_CXX_COMPILER_TARGET ${PTERON_MACOS})
# zig asks its library for a function that C++17 took away and that bears the name of a class of C++23.
set(CMAKE_CXX_FLAGS_INIT -U_LIBCPP_ENABLE_CXX17_REMOVED_UNEXPECTED_FUNCTIONS)
# Names that nothing needs are left out by the linker, which also signs; so nothing may change the files afterwards.
set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -s)
set(CMAKE_AR ${CMAKE_CURRENT_LIST_DIR}/zig/ar)
set(CMAKE_RANLIB ${CMAKE_CURRENT_LIST_DIR}/zig/ranlib)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
