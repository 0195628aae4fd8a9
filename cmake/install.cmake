# What `cmake --install` puts where: the library with its headers, the tool with its manual page and completions,
# profiles and models, and what CMake and pkg-config need to find the library. Everything is relocatable.
include(CMakePackageConfigHelpers)
set(SW_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/shardwright)
set(SW_DATA_DIR ${CMAKE_INSTALL_DATADIR}/shardwright)

if(SW_BUILD_TOOL)
  install(TARGETS shardwright_tool)
  install(FILES ${SW_MANUAL}/shardwright.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${SW_MANUAL}/shardwright.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME shardwright)
  install(FILES ${SW_MANUAL}/_shardwright DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${SW_MANUAL}/shardwright.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(TARGETS shardwright_core EXPORT shardwright-targets FILE_SET HEADERS)
foreach(library comm plan run io report)
  install(TARGETS shardwright_${library} EXPORT shardwright-targets)
endforeach()
install(TARGETS shardwright EXPORT shardwright-targets)
# The list of ops, which op.h includes.
install(FILES include/shardwright/ops.def DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shardwright)
install(EXPORT shardwright-targets NAMESPACE shardwright:: DESTINATION ${SW_CMAKE_DIR})
foreach(folder hwprofiles models)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${folder})
    install(DIRECTORY ${folder} DESTINATION ${SW_DATA_DIR})
  endif()
endforeach()
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/shardwright-config.cmake.in shardwright-config.cmake
  INSTALL_DESTINATION ${SW_CMAKE_DIR})
write_basic_package_version_file(shardwright-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shardwright-config.cmake ${PROJECT_BINARY_DIR}/shardwright-config-version.cmake
  cmake/FindGLPK.cmake DESTINATION ${SW_CMAKE_DIR})

file(RELATIVE_PATH SW_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" SW_PC_TO_PREFIX ${SW_PC_TO_PREFIX})
# sw_pc(NAME WHAT LIBS REQUIRES PRIVATE LIBS_PRIVATE): NAME.pc
function(sw_pc SW_PC_NAME SW_PC_WHAT SW_PC_LIBS SW_PC_REQUIRES SW_PC_PRIVATE SW_PC_LIBS_PRIVATE)
  configure_file(cmake/library.pc.in ${SW_PC_NAME}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${SW_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
function(sw_library_pc library requires private libs_private)
  sw_pc(shardwright-${library} " (${library})" "-L\${libdir} -lshardwright_${library}" "${requires}" "${private}"
    "${libs_private}")
endfunction()
if(SW_WITH_GLPK)
  set(SW_PC_GLPK -lglpk)
endif()
sw_library_pc(core "" zlib "")
sw_library_pc(comm shardwright-core "" "")
sw_library_pc(plan shardwright-core "" "${SW_PC_GLPK}")
sw_library_pc(run "shardwright-plan shardwright-comm" openblas "")
sw_library_pc(io shardwright-plan yajl "")
sw_library_pc(report "shardwright-io shardwright-run" "" "")
sw_pc(shardwright "" "" shardwright-report "" "")
