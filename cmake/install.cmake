# What `cmake --install` puts where: the library with its headers, the tool with its manual page and completions,
# profiles and models, and what CMake and pkg-config need to find the library. Everything is relocatable.
include(CMakePackageConfigHelpers)
set(SW_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/shardwright)
set(SW_DATA_DIR ${CMAKE_INSTALL_DATADIR}/shardwright)

# Made from the option tables by the tool itself, so no hand-written copy can age.
set(SW_MANUAL ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${SW_MANUAL})
add_custom_command(OUTPUT ${SW_MANUAL}/shardwright.1 ${SW_MANUAL}/shardwright.bash ${SW_MANUAL}/_shardwright
    ${SW_MANUAL}/shardwright.fish
  COMMAND shardwright_tool help --format=man > ${SW_MANUAL}/shardwright.1
  COMMAND shardwright_tool completion bash > ${SW_MANUAL}/shardwright.bash
  COMMAND shardwright_tool completion zsh > ${SW_MANUAL}/_shardwright
  COMMAND shardwright_tool completion fish > ${SW_MANUAL}/shardwright.fish
  VERBATIM)
add_custom_target(manual ALL DEPENDS ${SW_MANUAL}/shardwright.1)
install(FILES ${SW_MANUAL}/shardwright.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${SW_MANUAL}/shardwright.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME shardwright)
install(FILES ${SW_MANUAL}/_shardwright DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${SW_MANUAL}/shardwright.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

install(TARGETS shardwright_tool)
install(TARGETS shardwright EXPORT shardwright-targets FILE_SET HEADERS)
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
if(SW_WITH_GLPK)
  set(SW_PC_LIBS_PRIVATE -lglpk)
else()
  set(SW_PC_LIBS_PRIVATE "")
endif()
configure_file(cmake/shardwright.pc.in shardwright.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/shardwright.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
