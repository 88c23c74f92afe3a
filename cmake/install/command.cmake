# The command: its Python package, what starts it, its manual pages.
set(python ${CMAKE_INSTALL_DATADIR}/espalier/python)
set(package ${python}/espalier)
if(ESPALIER_WHEEL)  # the prefix is the package's own folder
  set(package .)
endif()
set(ESPALIER_PYTHON "python3" CACHE STRING "What the installed command runs by: a name on PATH, or a path")
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

# Paths from the package's folder to the other parts.
function(espalier_way result folder)
  file(RELATIVE_PATH way /p/${package} /p/${folder})
  string(REGEX REPLACE "/$" "" way "${way}")
  set(${result} "${way}" PARENT_SCOPE)  # "": the folder itself
endfunction()
espalier_way(ESPALIER_WAY_LIB ${CMAKE_INSTALL_LIBDIR})
espalier_way(ESPALIER_WAY_BIN ${CMAKE_INSTALL_BINDIR})
espalier_way(ESPALIER_WAY_HELPERS ${helpers})
espalier_way(ESPALIER_WAY_INCLUDE ${CMAKE_INSTALL_INCLUDEDIR})
espalier_way(ESPALIER_WAY_PREFIX .)
configure_file(installed.py.in installed.py @ONLY)
file(RELATIVE_PATH ESPALIER_WAY_PYTHON /p/${CMAKE_INSTALL_BINDIR} /p/${python})
configure_file(espalier.in espalier @ONLY)

# The commit is asked for at each build, and the file written only where it has changed.
set(ESPALIER_COMMIT "" CACHE STRING "The commit that is built, where there is no git to ask")
set(build_facts ${CMAKE_BINARY_DIR}/espalier_build.json)
add_custom_target(espalier_build_facts ALL BYPRODUCTS ${build_facts} COMMENT ""
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DCOMMIT=${ESPALIER_COMMIT} -DTYPE=${CMAKE_BUILD_TYPE}
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" -DOUT=${build_facts}
    -P ${CMAKE_CURRENT_SOURCE_DIR}/build_facts.cmake VERBATIM)

# Manual pages are made of the command's own help, where the build's Python has what the command needs.
file(GLOB_RECURSE modules CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/espalier/*.py)
set(pages ${CMAKE_CURRENT_BINARY_DIR}/man1)
set(maker ${CMAKE_CURRENT_SOURCE_DIR}/manual_pages.py)
set(developers ${CMAKE_SOURCE_DIR}/.venv/command/bin/python)
set(page_python ${Python3_EXECUTABLE})
if(EXISTS ${developers})
  set(page_python ${developers})
endif()
add_custom_command(OUTPUT ${pages}/made DEPENDS ${maker} ${modules} COMMENT "Making the manual pages" VERBATIM
  COMMAND ${page_python} -B ${maker} ${CMAKE_SOURCE_DIR}/python ${pages} ${PROJECT_VERSION})
set(completions ${CMAKE_CURRENT_BINARY_DIR}/completions)
set(completions_maker ${CMAKE_CURRENT_SOURCE_DIR}/completions.py)
add_custom_command(OUTPUT ${completions}/made DEPENDS ${completions_maker} ${CMAKE_SOURCE_DIR}/python/espalier/completion/command.py
  COMMENT "Making the completion scripts" VERBATIM
  COMMAND ${page_python} -B ${completions_maker} ${CMAKE_SOURCE_DIR}/python ${completions})
add_custom_target(espalier_manual_pages ALL DEPENDS ${pages}/made ${completions}/made)

if(NOT ESPALIER_WHEEL)  # pip brings the package and what starts it
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/espalier DESTINATION ${python} COMPONENT command
          PATTERN __pycache__ EXCLUDE PATTERN "*.pyc" EXCLUDE)
  install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/espalier DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
endif()
include(measuring.cmake)
espalier_install_measuring(${package})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/installed.py ${build_facts} DESTINATION ${package} COMPONENT command)
# Who may not write to the prefix would else compile 9,000 lines at every start. Not checked against the sources' times, which
# a copy of the prefix changes.
option(ESPALIER_BYTE_COMPILE "Install the command's Python package compiled, too" ON)
if(ESPALIER_BYTE_COMPILE AND NOT ESPALIER_WHEEL)
  configure_file(byte_compile.cmake.in byte_compile.cmake @ONLY)
  install(SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/byte_compile.cmake COMPONENT command)
endif()
# Where man and the shells look. Those of a wheel belong into the data of its environment, beside the package's folder.
set(man ${CMAKE_INSTALL_MANDIR})
set(data ${CMAKE_INSTALL_DATADIR})
if(ESPALIER_WHEEL AND SKBUILD_DATA_DIR)
  set(man ${SKBUILD_DATA_DIR}/share/man)
  set(data ${SKBUILD_DATA_DIR}/share)
endif()
include(for_shells.cmake)
espalier_install_for_shells(${pages} ${completions} ${man} ${data})
