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
endif()
