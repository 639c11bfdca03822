# The Debian package, made by `cpack -G DEB` in the build directory. One package contains all of Espalier.
# dpkg-shlibdeps finds the libraries that it depends on.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME espalier)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_VENDOR "The Espalier developers")
set(CPACK_PACKAGE_CONTACT "The Espalier developers <developers@espalier.invalid>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};espalier;Unspecified;/;${PROJECT_BINARY_DIR};espalier;debian;/")
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package_settings.cmake)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
# The C++ headers include only the standard library.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, pkg-config, libeigen3-dev")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Espalier solves A x = b for large sparse A by a supernodal factorization
on an elimination tree: Cholesky, LDL and LU, single and double precision,
real and complex, on all cores of a machine.
.
This package has the shared library, its interfaces for C, C++, Fortran and
Eigen, the espalier command, its manual page and the documentation.")
include(CPack)
