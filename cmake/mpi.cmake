# The tool with an MPI engine in it: shardwright-openmpi and shardwright-mpich, for each library that pkg-config finds.
# `shardwright` itself never needs MPI. SW_MPI_FLAVOURS lists what is built.
set(SW_MPI_FLAVOURS "")
set(SW_MPI_PACKAGE_openmpi ompi-c)
set(SW_MPI_PACKAGE_mpich mpich)
if(BUILD_SHARED_LIBS)
  return() # the engine calls what the shared library hides
endif()
if(NOT SW_WITH_MPI OR SW_SANITIZE)
  return() # the libraries themselves are not clean under the sanitizers
endif()
file(GLOB SW_MPI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/comm/mpi/*.c)
foreach(flavour openmpi mpich)
  pkg_check_modules(MPI_${flavour} IMPORTED_TARGET ${SW_MPI_PACKAGE_${flavour}})
  find_program(SW_MPIRUN_${flavour} NAMES mpirun.${flavour} mpiexec.${flavour})
  if(NOT MPI_${flavour}_FOUND OR NOT SW_MPIRUN_${flavour})
    continue()
  endif()
  list(APPEND SW_MPI_FLAVOURS ${flavour})
  add_executable(shardwright_${flavour} src/cli/main.c ${SW_MPI_SOURCES})
  set_target_properties(shardwright_${flavour} PROPERTIES OUTPUT_NAME shardwright-${flavour})
  target_compile_definitions(shardwright_${flavour} PRIVATE SW_VERSION="${PROJECT_VERSION}")
  target_include_directories(shardwright_${flavour} PRIVATE src)
  # MPICH declares the array of ignored statuses with no elements, and gcc believes it.
  target_compile_options(shardwright_${flavour} PRIVATE $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  target_link_libraries(shardwright_${flavour} PRIVATE shardwright_cli sw_flags PkgConfig::MPI_${flavour})
endforeach()
