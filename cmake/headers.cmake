# A compiler for another system must not see the host's /usr/include, which belongs to the host's C library: it gets a
# folder with the header-only libraries alone.
set(PTERON_HOST_INCLUDES /usr/include CACHE PATH "Where the host's header-only libraries are")
set(headers ${CMAKE_BINARY_DIR}/include)
foreach(library flatbuffers nlohmann CLI)
  if(NOT EXISTS ${PTERON_HOST_INCLUDES}/${library})
    message(FATAL_ERROR "${PTERON_HOST_INCLUDES}/${library} is missing; run tools/setup build first")
  endif()
  file(COPY ${PTERON_HOST_INCLUDES}/${library} DESTINATION ${headers})
endforeach()
include_directories(SYSTEM ${headers})
