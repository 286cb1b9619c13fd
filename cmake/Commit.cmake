# Writes OUT, a header with the commit of the tree SOURCE, if it differs from what
# is there.  Run at build time: cmake -DSOURCE=... -DOUT=... -P Commit.cmake
# A tree without git, such as a release archive, has no commit.
set(commit "")
if(EXISTS "${SOURCE}/.git")
  execute_process(COMMAND git describe --always --abbrev=10 --exclude=* --dirty=,\ modified
    WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE commit ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(text "#define TAILGATE_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUT}" "${text}")
endif()
