# project_options: the one place for language level, warnings and sanitizers.
# Every target of ours links it; nothing else sets flags for all.
option(WERROR "Treat warnings as errors" OFF)
option(FUZZ "Build the libFuzzer targets of tests/fuzz (clang)" OFF)
set(SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

add_library(project_options INTERFACE)
target_compile_features(project_options INTERFACE c_std_11)
target_compile_definitions(project_options INTERFACE _GNU_SOURCE)
target_compile_options(project_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
  -Wmissing-prototypes -Wpointer-arith -Wundef -Wvla -Wwrite-strings
  $<$<BOOL:${WERROR}>:-Werror>)

set(SANITIZE_FLAGS "") # for the library that we build but did not write
if(SANITIZE)
  set(SANITIZE_FLAGS
    -fsanitize=${SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(project_options INTERFACE ${SANITIZE_FLAGS})
  target_link_options(project_options INTERFACE -fsanitize=${SANITIZE})
else()
  # What is installed is hardened: docs/bench.md has what it costs.  The checks
  # of _FORTIFY_SOURCE need an optimiser; level 3 a compiler that knows sizes at
  # run time.
  set(fortify 2)
  if((CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
      OR (CMAKE_C_COMPILER_ID STREQUAL Clang AND CMAKE_C_COMPILER_VERSION VERSION_GREATER_EQUAL 12))
    set(fortify 3)
  endif()
  target_compile_options(project_options INTERFACE
    -fstack-protector-strong
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
    $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=${fortify}>
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:POSITION_INDEPENDENT_CODE>>>:-fPIE>)
  target_link_options(project_options INTERFACE
    LINKER:-z,relro,-z,now $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
endif()
