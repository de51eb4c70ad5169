# Writes the commit that is being built to a header, whenever something is built: cmake -DSOURCE=... -DOUTPUT=... -P commit.cmake
cmake_minimum_required(VERSION 3.25)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=10 WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define HORNBILL_COMMIT \"@commit@\"\n" @ONLY)  # untouched where it is the same
