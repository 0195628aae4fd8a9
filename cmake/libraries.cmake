# The libraries. Each is some layers of src (docs/architecture.md), static or shared as BUILD_SHARED_LIBS says, and stands
# on those before it.
#
#   shardwright::core    base, mesh, collective      zlib
#   shardwright::comm    comm                        the communicator: no graphs, no plans
#   shardwright::plan    graph to spmd, select       GLPK, if SW_WITH_GLPK
#   shardwright::run     exec                        OpenBLAS
#   shardwright::io      io, gen, mlir, open         YAJL; of mlir only the forms in Python if not SW_WITH_MLIR
#   shardwright::report  report
#   shardwright::shardwright                         all of them
set(SW_LIBRARIES core comm plan run io report)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" SW_SOVERSION ${PROJECT_VERSION}) # below 1.0 a minor version may break

# Exported is what src/symbols.txt lists, under the version of the interface; what one library needs of another besides
# has a version that says it is nobody's to call. All else is hidden. The test `shared` compares.
file(STRINGS src/symbols.txt SW_SYMBOLS)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/symbols.txt)
list(JOIN SW_SYMBOLS ";\n  " SW_SYMBOLS)
set(SW_EXPORTS ${PROJECT_BINARY_DIR}/generated/exports.map)
file(CONFIGURE OUTPUT ${SW_EXPORTS} CONTENT
  "SHARDWRIGHT_@SW_SOVERSION@ {\n  @SW_SYMBOLS@;\n};\nSHARDWRIGHT_PRIVATE {\n  global: sw_*;\n  local: *;\n};\n" @ONLY)

# What runs on threads of few kilobytes, or calls itself, keeps no arrays on the stack. A sanitizer's frames are longer.
if(NOT SW_SANITIZE)
  set(SW_FRAMES -Wframe-larger-than=16384)
endif()

# clang takes six times as long to optimise code with both sanitizers' checks as to compile it: where a test run spends
# little time, that does not pay.
set(SW_COLD)
if(SW_SANITIZE MATCHES undefined AND NOT SW_FUZZ)
  set(SW_COLD -O0)
endif()

# sw_library(NAME LAYERS...): shardwright_NAME, alias shardwright::NAME, of the sources of these layers.
function(sw_library name)
  add_library(shardwright_${name})
  add_library(shardwright::${name} ALIAS shardwright_${name})
  foreach(layer ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*.c)
    list(FILTER sources EXCLUDE REGEX "/src/comm/mpi/")
    if(NOT SW_WITH_GLPK)
      list(FILTER sources EXCLUDE REGEX "/src/select/glpk/")
    endif()
    if(SW_WITH_MLIR)
      list(FILTER sources EXCLUDE REGEX "/src/mlir/without\\.c$")
    else()
      list(FILTER sources EXCLUDE REGEX "/src/mlir/.*/")
    endif()
    target_sources(shardwright_${name} PRIVATE ${sources})
  endforeach()
  # DEFINE_SYMBOL: objects of static and shared libraries are the same, so a compiler cache has them once.
  set_target_properties(shardwright_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
    INSTALL_RPATH "$ORIGIN" VERSION ${PROJECT_VERSION} SOVERSION ${SW_SOVERSION} DEFINE_SYMBOL "" LINK_DEPENDS ${SW_EXPORTS})
  target_include_directories(shardwright_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(shardwright_${name} PRIVATE ${SW_FRAMES} -fno-semantic-interposition)
  target_link_options(shardwright_${name} PRIVATE -Wl,--version-script=${SW_EXPORTS} -Wl,--no-undefined)
  target_link_libraries(shardwright_${name} PRIVATE $<BUILD_INTERFACE:sw_flags> m)
endfunction()

sw_library(core base mesh collective)
file(GLOB SW_HEADERS CONFIGURE_DEPENDS include/shardwright/*.h)
target_sources(shardwright_core PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${SW_HEADERS})
target_link_libraries(shardwright_core PRIVATE ZLIB::ZLIB PUBLIC Threads::Threads)

sw_library(comm comm)
target_link_libraries(shardwright_comm PUBLIC shardwright_core)

sw_library(plan graph schedule kernel hw select timeline reshard strategy plan propagate spmd)
target_link_libraries(shardwright_plan PUBLIC shardwright_core)
if(SW_WITH_GLPK)
  target_compile_definitions(shardwright_plan PRIVATE SW_WITH_GLPK)
  target_link_libraries(shardwright_plan PRIVATE GLPK::GLPK)
endif()

sw_library(run exec)
target_link_libraries(shardwright_run PRIVATE PkgConfig::BLAS PUBLIC shardwright_plan shardwright_comm)
# Kernels look at neither errno nor floating-point exceptions; without these two, loops over sqrt are not vectorised.
target_compile_options(shardwright_run PRIVATE -fno-math-errno -fno-trapping-math)

sw_library(io io gen mlir open)
target_link_libraries(shardwright_io PRIVATE PkgConfig::YAJL PUBLIC shardwright_plan)
target_compile_options(shardwright_io PRIVATE ${SW_COLD})

sw_library(report report)
target_link_libraries(shardwright_report PUBLIC shardwright_io shardwright_run)
target_compile_options(shardwright_report PRIVATE ${SW_COLD})
# The page of a report is part of the library, as one text: its style and its scripts in their places.
set(SW_PAGE_FOLDER src/report/page)
set(SW_PAGE_SCRIPTS base overview timeline memory collectives arguments source comparison main)
list(TRANSFORM SW_PAGE_SCRIPTS REPLACE "(.+)" "${SW_PAGE_FOLDER}/\\1.js")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SW_PAGE_FOLDER}/page.html ${SW_PAGE_FOLDER}/style.css
  ${SW_PAGE_SCRIPTS})
file(READ ${SW_PAGE_FOLDER}/page.html SW_PAGE HEX)
file(READ ${SW_PAGE_FOLDER}/style.css SW_STYLE HEX)
set(SW_SCRIPT "")
foreach(script ${SW_PAGE_SCRIPTS})
  file(READ ${script} SW_PART HEX)
  string(APPEND SW_SCRIPT "${SW_PART}")
endforeach()
foreach(part STYLE SCRIPT)
  string(HEX "@${part}@" SW_PLACE)
  string(REPLACE "${SW_PLACE}" "${SW_${part}}" SW_PAGE "${SW_PAGE}")
endforeach()
string(REGEX REPLACE "(..)" "0x\\1," SW_PAGE "${SW_PAGE}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/page.c
  CONTENT "#include \"report/page.h\"\n\nconst char sw_report_page[] = {@SW_PAGE@0};\n" @ONLY)
target_sources(shardwright_report PRIVATE ${PROJECT_BINARY_DIR}/generated/page.c)

add_library(shardwright INTERFACE)
add_library(shardwright::shardwright ALIAS shardwright)
target_link_libraries(shardwright INTERFACE shardwright_report)
