# `cmake --install`, and the package that find_package(hornbill) finds. A Kokkos that was built along is installed along.
include(CMakePackageConfigHelpers)
install(TARGETS hornbill EXPORT hornbillTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(HORNBILL_ENABLE_CLI)
  install(TARGETS hornbill_cli DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hornbill ${PROJECT_BINARY_DIR}/include/hornbill
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT hornbillTargets NAMESPACE hornbill:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hornbill)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/hornbillConfig.cmake.in ${PROJECT_BINARY_DIR}/hornbillConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hornbill)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hornbillConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hornbillConfig.cmake ${PROJECT_BINARY_DIR}/hornbillConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/hornbill)
