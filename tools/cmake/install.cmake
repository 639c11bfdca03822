# The files that `cmake --install` installs: the public headers, the shared library with its CMake package and
# pkg-config files, the command, its manual page and completions. All paths are relative to the prefix, so that
# the tree can be moved.
include(CMakePackageConfigHelpers)

# install_libraries(<libdir> <component> [EXCLUDE_FROM_ALL]): the libraries, and the files by which programs find them.
function(install_libraries libdir component)
  set(to COMPONENT ${component} ${ARGN})
  set(made ${PROJECT_BINARY_DIR}/installed/${component})
  set(package_dir ${libdir}/cmake/espalier)
  set(packages espalier)
  install(TARGETS espalier_shared EXPORT ${component} LIBRARY DESTINATION ${libdir} ${to})
  if(TARGET espalier_fortran)
    list(APPEND packages espalier-fortran)
    install(TARGETS espalier_fortran EXPORT ${component} ARCHIVE DESTINATION ${libdir} ${to}
            LIBRARY DESTINATION ${libdir} ${to})
  endif()
  install(EXPORT ${component} NAMESPACE espalier:: FILE espalierTargets.cmake DESTINATION ${package_dir} ${to})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/cmake/espalierConfig.cmake.in ${made}/espalierConfig.cmake
                                INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${made}/espalierConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${made}/espalierConfig.cmake ${made}/espalierConfigVersion.cmake DESTINATION ${package_dir} ${to})

  # The .pc files find the prefix relative to their own path.
  file(RELATIVE_PATH pc_to_prefix /prefix/${libdir}/pkgconfig /prefix)
  foreach(name IN LISTS packages)
    configure_file(${PROJECT_SOURCE_DIR}/tools/cmake/${name}.pc.in ${made}/${name}.pc @ONLY)
    install(FILES ${made}/${name}.pc DESTINATION ${libdir}/pkgconfig ${to})
  endforeach()

  foreach(plugin espalier_petsc espalier_ma57)
    if(TARGET ${plugin})
      install(TARGETS ${plugin} LIBRARY DESTINATION ${libdir} ${to})
    endif()
  endforeach()
  if(TARGET espalier_ma57)
    install(FILES ${PROJECT_BINARY_DIR}/lib/espalier/hsl/libhsl.so DESTINATION ${libdir}/espalier/hsl ${to})
  endif()
endfunction()

if(ESPALIER_SHARED)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/espalier DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN *.h PATTERN *.hpp)
  if(TARGET espalier_fortran)
    # The format of module files depends on the compiler, so they are next to the library and not among the headers.
    # For other compilers the sources are installed.
    set(ESPALIER_FORTRAN_MODULES ${CMAKE_INSTALL_LIBDIR}/espalier/fortran)
    get_target_property(modules espalier_fortran Fortran_MODULE_DIRECTORY)
    target_include_directories(espalier_fortran INTERFACE $<INSTALL_INTERFACE:${ESPALIER_FORTRAN_MODULES}>)
    set_target_properties(espalier_fortran PROPERTIES EXPORT_NAME fortran)
    install(FILES ${modules}/espalier.mod ${modules}/espalier_c.mod ${modules}/espalier_checks.mod
                  ${modules}/espalier_systems.mod
            DESTINATION ${ESPALIER_FORTRAN_MODULES})
    set(fortran_sources espalier_c.f90 espalier_checks.f90 espalier_systems.f90 espalier.f90 array.c)
    list(TRANSFORM fortran_sources PREPEND ${PROJECT_SOURCE_DIR}/tools/fortran/)
    install(FILES ${fortran_sources}
            DESTINATION ${CMAKE_INSTALL_DATADIR}/espalier)
  endif()
  install_libraries(${CMAKE_INSTALL_LIBDIR} libraries)
  # Packages of Debian have their libraries in a folder for the architecture.
  if(CMAKE_LIBRARY_ARCHITECTURE)
    install_libraries(lib/${CMAKE_LIBRARY_ARCHITECTURE} debian EXCLUDE_FROM_ALL)
  endif()
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
        FILES_MATCHING PATTERN *.md PATTERN *.png PATTERN *.svg PATTERN *.json PATTERN *.jsonl
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
