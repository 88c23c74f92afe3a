# What `espalier bench` and `espalier tune` measure with: sources, which the compiler of each MPI builds.
# espalier_install_measuring(FOLDER): below the folder of the Python package.
function(espalier_install_measuring folder)
  set(bench ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../bench)
  install(DIRECTORY ${bench}/mpi ${bench}/trials ${bench}/setup DESTINATION ${folder}/measuring COMPONENT command
          FILES_MATCHING PATTERN "*.[ch]")
endfunction()
