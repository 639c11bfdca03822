# The files that `cmake --install` installs: the public headers, the shared library with its CMake package and
# pkg-config files, the command, its manual page and completions. All paths are relative to the prefix, so that
# the tree can be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/espalier)

if(ESPALIER_SHARED)
  install(TARGETS espalier_shared EXPORT espalier LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/espalier DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN *.h PATTERN *.hpp)
  if(TARGET espalier_fortran)
    # The format of module files depends on the compiler, so they are next to the library and not among the headers.
    # For other compilers the sources are installed.
    set(ESPALIER_FORTRAN_MODULES ${CMAKE_INSTALL_LIBDIR}/espalier/fortran)
    get_target_property(modules espalier_fortran Fortran_MODULE_DIRECTORY)
    target_include_directories(espalier_fortran INTERFACE $<INSTALL_INTERFACE:${ESPALIER_FORTRAN_MODULES}>)
    set_target_properties(espalier_fortran PROPERTIES EXPORT_NAME fortran)
    install(TARGETS espalier_fortran EXPORT espalier ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(FILES ${modules}/espalier.mod ${modules}/espalier_c.mod ${modules}/espalier_checks.mod
                  ${modules}/espalier_systems.mod
            DESTINATION ${ESPALIER_FORTRAN_MODULES})
    set(fortran_sources espalier_c.f90 espalier_checks.f90 espalier_systems.f90 espalier.f90 array.c)
    list(TRANSFORM fortran_sources PREPEND ${PROJECT_SOURCE_DIR}/tools/fortran/)
    install(FILES ${fortran_sources}
            DESTINATION ${CMAKE_INSTALL_DATADIR}/espalier)
  endif()
  install(EXPORT espalier NAMESPACE espalier:: FILE espalierTargets.cmake DESTINATION ${package_dir})
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/espalierConfig.cmake.in
                                ${PROJECT_BINARY_DIR}/espalierConfig.cmake INSTALL_DESTINATION ${package_dir}
                                NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/espalierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/espalierConfig.cmake ${PROJECT_BINARY_DIR}/espalierConfigVersion.cmake
          DESTINATION ${package_dir})

  # The .pc files find the prefix relative to their own path.
  file(RELATIVE_PATH ESPALIER_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  foreach(name espalier espalier-fortran)
    if(name STREQUAL espalier OR TARGET espalier_fortran)
      configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
      install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    endif()
  endforeach()
endif()

if(ESPALIER_COMMAND)
  install(TARGETS espalier RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set(reference ${PROJECT_BINARY_DIR}/reference) # made by the command
  install(FILES ${reference}/espalier.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
  install(FILES ${reference}/espalier.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME espalier OPTIONAL)
  install(FILES ${reference}/espalier.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)
  install(FILES ${reference}/_espalier DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
endif()

# The pages of docs and those above it come into one folder. README.md is their start; index.md is that of the site.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN *.md PATTERN *.png PATTERN *.svg PATTERN *.json
        PATTERN site EXCLUDE PATTERN docs/index.md EXCLUDE)
foreach(page README.md CHANGELOG.md)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${page})
  file(READ ${PROJECT_SOURCE_DIR}/${page} text)
  string(REPLACE "](docs/" "](" text "${text}")
  string(REPLACE "[CONTRIBUTING.md](CONTRIBUTING.md)" "CONTRIBUTING.md" text "${text}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/installed/${page} CONTENT "${text}" @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/installed/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Debian requires this name.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
