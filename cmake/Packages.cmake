# The Debian package that `make deb` makes with CPack.  What it depends on comes
# from dpkg-shlibdeps, which reads the program.
set(CPACK_PACKAGE_NAME tailgate)
set(CPACK_PACKAGE_VENDOR "The Tailgate authors")
set(CPACK_PACKAGE_CONTACT "The Tailgate authors <tailgate@example.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS librsvg2-bin)
# Without tailgate-mpi, which would make the package depend on an MPI.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};${PROJECT_NAME};Unspecified;/")
include(CPack)
