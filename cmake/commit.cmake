# Writes OUTPUT, a header that names the commit which SOURCE is at.
set(commit unknown)
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(answer)
    set(commit ${answer})
  endif()
endif()
file(WRITE ${OUTPUT} "#pragma once\n#define PTERON_COMMIT \"${commit}\"\n")
