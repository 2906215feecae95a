add_library(pteron_warnings INTERFACE)
target_compile_options(pteron_warnings INTERFACE -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees uninitialised values inside of std::string and std::function where there are none, and overlapping copies
  # in the assignment of a literal to a std::string.
  target_compile_options(pteron_warnings INTERFACE -Wshadow=local -Wno-maybe-uninitialized -Wno-restrict)
endif()

# Casts from floating point to integers that can't hold them are no part of "undefined".
set(sanitizers_address address,undefined,float-cast-overflow)
set(sanitizers_thread thread)

set(PTERON_SANITIZE "" CACHE STRING "Sanitizers (clang): address, also for undefined behaviour, or thread")
if(PTERON_SANITIZE)
  add_compile_options(-O1 -gline-tables-only -fno-omit-frame-pointer -fsanitize=${sanitizers_${PTERON_SANITIZE}})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=${sanitizers_${PTERON_SANITIZE}})
endif()

# Every edge counts, also those of the library; a finding ends the process, also what sanitizers do not see: an empty optional.
option(PTERON_FUZZ "Fuzzers (clang), with address and undefined-behaviour sanitizers" OFF)
if(PTERON_FUZZ)
  add_compile_options(-O1 -gline-tables-only -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,${sanitizers_address} -fno-sanitize-recover=all -D_GLIBCXX_ASSERTIONS)
  add_link_options(-fsanitize=address,undefined)
endif()
