# Strips what a build ships, and keeps its symbols in a file beside it. gdb and perf find that file by the link's name.
include(CMakeDependentOption)
set(in_release OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(in_release ON)
endif()
# Sanitizers name the lines of a report themselves, and read no file of symbols for that.
cmake_dependent_option(ESPALIER_SPLIT_DEBUG "Strip libraries and helper programs; symbols go into FILE.debug beside each"
                       ${in_release} "CMAKE_OBJCOPY;NOT ESPALIER_SANITIZE" OFF)

# espalier_split_debug(<target>): of a shared library or a program that a build ships. cmake/install.cmake installs it, but
# for what lies in tools/.
function(espalier_split_debug target)
  set_property(GLOBAL APPEND PROPERTY ESPALIER_SHIPPED ${target})
  if(NOT ESPALIER_SPLIT_DEBUG)
    return()
  endif()
  set(file $<TARGET_FILE:${target}>)
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug ${file} ${file}.debug
    COMMAND ${CMAKE_OBJCOPY} --strip-unneeded --add-gnu-debuglink=${file}.debug ${file})
  set_property(TARGET ${target} APPEND PROPERTY ADDITIONAL_CLEAN_FILES ${file}.debug)
endfunction()
