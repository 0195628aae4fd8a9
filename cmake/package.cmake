# `cpack` in a build folder makes shardwright-VERSION-SYSTEM.tar.gz and shardwright_VERSION_ARCH.deb of what is installed.
# With GLPK their licence is GLPK's (NOTICE); packages to pass on are those of -DSW_STATIC=ON or -DSW_WITH_GLPK=OFF.
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_VENDOR "the shardwright authors")
set(CPACK_PACKAGE_CONTACT ${CPACK_PACKAGE_VENDOR})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION "Searches for the cheapest way to split every tensor of a model over devices, says how
good that is, writes it for JAX, Shardy and PyTorch, and runs it on threads to show that it computes the same.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
