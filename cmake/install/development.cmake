# Headers, find_package(Espalier) and pkg-config.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN "*.h" PATTERN sharp_interface EXCLUDE)

set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/Espalier)
configure_package_config_file(EspalierConfig.cmake.in EspalierConfig.cmake INSTALL_DESTINATION ${folder}
                              PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(EspalierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/EspalierConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/EspalierConfigVersion.cmake
        DESTINATION ${folder} COMPONENT development)
if(shipped)
  install(EXPORT EspalierTargets NAMESPACE Espalier:: DESTINATION ${folder} COMPONENT development)
endif()

# pkg-config finds the prefix from where the file lies; so a prefix that was moved is right, too.
set(pkgconfig ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH up /p/${pkgconfig} /p)
string(REGEX REPLACE "/$" "" up ${up})
foreach(target ${linkable})
  get_target_property(library ${target} OUTPUT_NAME)
  set(requires "")
  if(NOT library)
    set(library ${target})
  endif()
  if(NOT library STREQUAL "espalier")
    set(requires espalier)
  endif()
  configure_file(espalier.pc.in ${library}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${library}.pc DESTINATION ${pkgconfig} COMPONENT development)
endforeach()
