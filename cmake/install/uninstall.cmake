# `cmake --build build --target uninstall` removes what the last `cmake --install` from this build has put there. Standard
# folders, such as lib/, go only if the installation has made them; our own always.
set(standard . ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_LIBDIR} ${CMAKE_INSTALL_LIBDIR}/.debug ${CMAKE_INSTALL_BINDIR}/.debug
  ${CMAKE_INSTALL_LIBDIR}/cmake ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_LIBEXECDIR} ${CMAKE_INSTALL_INCLUDEDIR}
  ${CMAKE_INSTALL_DATAROOTDIR} ${CMAKE_INSTALL_DATADIR} ${CMAKE_INSTALL_MANDIR} ${CMAKE_INSTALL_MANDIR}/man1
  ${CMAKE_INSTALL_DATADIR}/bash-completion/completions ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
  ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
get_filename_component(documents ${CMAKE_INSTALL_DOCDIR} DIRECTORY)
set(above ${CMAKE_INSTALL_LIBDIR} ${documents})
foreach(folder IN LISTS standard above)  # and the folders above them, such as lib/ of lib/x86_64-linux-gnu
  while(folder AND NOT IS_ABSOLUTE "${folder}")
    list(APPEND standard ${folder})
    get_filename_component(folder ${folder} DIRECTORY)
  endwhile()
endforeach()
list(REMOVE_DUPLICATES standard)
configure_file(folders.cmake.in folders.cmake @ONLY)
install(SCRIPT ${CMAKE_CURRENT_BINARY_DIR}/folders.cmake ALL_COMPONENTS)
add_custom_target(uninstall VERBATIM COMMENT "Removing what was installed"
  COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/remove.cmake)
