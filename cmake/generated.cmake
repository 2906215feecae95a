# Sources made at build time: flatbuffer readers, embedded kernels, tables of characters. Nothing generated is committed.
set(PTERON_GENERATED ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${PTERON_GENERATED})

find_program(FLATC flatc REQUIRED)
foreach(schema program flat_tensor vk_graph)
  set(out ${PTERON_GENERATED}/${schema}_generated.h)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${FLATC} --cpp -o ${PTERON_GENERATED} ${CMAKE_SOURCE_DIR}/src/format/schema/${schema}.fbs
    DEPENDS ${CMAKE_SOURCE_DIR}/src/format/schema/${schema}.fbs
    VERBATIM)
  list(APPEND PTERON_FLATBUFFERS ${out})
endforeach()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
file(GLOB_RECURSE PTERON_KERNELS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ops/*.wgsl)
file(GLOB PTERON_OP_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ops/*.cpp ${CMAKE_SOURCE_DIR}/src/ops/passes/*.cpp)
list(FILTER PTERON_OP_SOURCES EXCLUDE REGEX "_test\\.cpp$")
add_custom_command(
  OUTPUT ${PTERON_GENERATED}/kernels.stamp
  BYPRODUCTS ${PTERON_GENERATED}/kernels.h ${PTERON_GENERATED}/kernels.cpp
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_kernels.py ${CMAKE_SOURCE_DIR}/src/ops ${PTERON_GENERATED}
  COMMAND ${CMAKE_COMMAND} -E touch ${PTERON_GENERATED}/kernels.stamp
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/embed_kernels.py ${PTERON_KERNELS} ${PTERON_OP_SOURCES}
  VERBATIM)
set(unicode_data ${CMAKE_SOURCE_DIR}/src/llm/text/unicode.txt)
add_custom_command(
  OUTPUT ${PTERON_GENERATED}/unicode_tables.cpp
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/embed_unicode.py ${unicode_data} ${PTERON_GENERATED}/unicode_tables.cpp
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/embed_unicode.py ${unicode_data}
  VERBATIM)
add_custom_target(pteron_generated DEPENDS ${PTERON_FLATBUFFERS} ${PTERON_GENERATED}/kernels.stamp)
