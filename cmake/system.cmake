# What differs between the systems that programs are built for. A source named *_SYSTEM.cpp belongs to one of them, *_posix.cpp to
# Linux and macOS, *_polling.cpp to those without Linux's event queue.
if(WIN32)
  set(systems windows polling)
  set(PTERON_ORIGIN "")  # libraries are looked for beside the program, and nowhere else
  set(CMAKE_SHARED_LIBRARY_PREFIX "")
  add_compile_definitions(_WIN32_WINNT=0x0A00 WIN32_LEAN_AND_MEAN NOMINMAX UNICODE)
elseif(APPLE)
  set(systems posix macos polling)
  set(PTERON_ORIGIN @loader_path)
  # CMake gives no search paths to linkers for versions before 10.5, and takes that for one on machines of other systems.
  foreach(kind SHARED_LIBRARY_RUNTIME_C SHARED_LIBRARY_RUNTIME_CXX EXECUTABLE_RUNTIME_CXX)
    set(CMAKE_${kind}_FLAG -Wl,-rpath,)
  endforeach()
  add_compile_options(-fvisibility=hidden)
else()
  set(systems posix linux)
  set(PTERON_ORIGIN $ORIGIN)
endif()
set(others posix linux macos windows polling)
list(REMOVE_ITEM others ${systems})
list(JOIN systems "|" PTERON_SYSTEMS)
list(JOIN others "|" PTERON_OTHER_SYSTEMS)

# pteron_sources(VARIABLE PATTERN…): the files, without those of other systems
function(pteron_sources out)
  file(GLOB found CONFIGURE_DEPENDS ${ARGN})
  list(FILTER found EXCLUDE REGEX "_(${PTERON_OTHER_SYSTEMS})\\.cpp$")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# pteron_search_path(TARGET FOLDER…): it looks for libraries in its own folder and in these, as seen from there. Paths are those of
# the installed files from the start: installing does not change a byte.
function(pteron_search_path target)
  set(paths ${PTERON_ORIGIN})
  if(PTERON_ORIGIN)
    foreach(folder ${ARGN})
      list(APPEND paths ${PTERON_ORIGIN}/${folder})
    endforeach()
  endif()
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${paths}")
endfunction()

# pteron_exports(TARGET NAME): it shows what cmake/NAME.map lists, and nothing of what is inside. Linkers of other systems take no
# such list: Windows gets the functions that pteron/c.h declares, on macOS all else is compiled hidden.
function(pteron_exports target name)
  if(WIN32)
    file(READ ${CMAKE_SOURCE_DIR}/include/pteron/c.h header)
    string(REGEX MATCHALL "pteron_[a-z0-9_]+\\(" names "${header}")
    list(TRANSFORM names REPLACE "\\(" "")
    list(REMOVE_DUPLICATES names)
    list(JOIN names "\n" names)
    file(CONFIGURE OUTPUT ${PTERON_GENERATED}/${target}.def CONTENT "EXPORTS\n@names@\n" @ONLY)
    target_sources(${target} PRIVATE ${PTERON_GENERATED}/${target}.def)
  elseif(NOT APPLE)
    set(map ${CMAKE_SOURCE_DIR}/cmake/${name}.map)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
  endif()
endfunction()
