# Manual pages and completion scripts, as far as they were made, below the folders `man` and `data`. Also for what is packed
# without a configuration (packaging/wheel/prebuilt).
function(espalier_install_for_shells pages completions man data)
  install(DIRECTORY ${pages}/ DESTINATION ${man}/man1 COMPONENT command FILES_MATCHING PATTERN "*.1")
  set(bash bash-completion/completions)
  set(zsh zsh/site-functions)
  set(fish fish/vendor_completions.d)
  foreach(shell bash zsh fish)
    install(DIRECTORY ${completions}/${shell}/ DESTINATION ${data}/${${shell}} COMPONENT command OPTIONAL)
  endforeach()
endfunction()
