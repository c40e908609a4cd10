# The CMake package that `cmake --install` leaves beside the libraries: find_package(tokpack 0.1).
# A draft of the format reads only itself, so a package of another minor version is not compatible.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tokpack)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/tokpackConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/tokpackConfig.cmake" INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tokpackConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tokpackConfig.cmake" "${PROJECT_BINARY_DIR}/tokpackConfigVersion.cmake"
  DESTINATION ${package_dir})
install(EXPORT tokpackTargets NAMESPACE tokpack:: DESTINATION ${package_dir})
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR})
