# The tool. All of it but main() is a library of its own, so that tests and fuzz targets can link it.
file(GLOB SW_CLI_SOURCES CONFIGURE_DEPENDS src/cli/*.c)
list(FILTER SW_CLI_SOURCES EXCLUDE REGEX "/main\\.c$")
add_library(shardwright_cli STATIC ${SW_CLI_SOURCES})
# Benchmarks, fits and their evidence are the tool's alone.
file(GLOB SW_BENCH_SOURCES CONFIGURE_DEPENDS src/bench/*.c)
target_sources(shardwright_cli PRIVATE ${SW_BENCH_SOURCES})
target_compile_definitions(shardwright_cli
  PRIVATE SW_VERSION="${PROJECT_VERSION}" $<$<BOOL:${SW_WITH_GLPK}>:SW_WITH_GLPK>)
target_include_directories(shardwright_cli PRIVATE src)
target_compile_options(shardwright_cli PRIVATE ${SW_FRAMES} ${SW_COLD})
target_link_libraries(shardwright_cli PRIVATE sw_flags PUBLIC shardwright m)
add_executable(shardwright_tool src/cli/main.c)
set_target_properties(shardwright_tool PROPERTIES OUTPUT_NAME shardwright)
target_compile_definitions(shardwright_tool PRIVATE SW_VERSION="${PROJECT_VERSION}")
target_include_directories(shardwright_tool PRIVATE src)
target_link_libraries(shardwright_tool PRIVATE shardwright_cli sw_flags)
if(NOT SW_STATIC)
  set_target_properties(shardwright_tool PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
else()
  # main.c answers for OpenBLAS how many threads it starts; of two definitions the first is taken.
  target_link_options(shardwright_tool PRIVATE -static -Wl,--allow-multiple-definition)
endif()

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
