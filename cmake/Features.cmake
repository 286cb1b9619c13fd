# Optional parts.  WITH_X is AUTO (on where the library is found), ON (an error
# where it is not) or OFF; the outcome is HAVE_X, for common/config.h.
set(WITH_GRPC AUTO CACHE STRING "gRPC support: AUTO, ON or OFF")
set(WITH_MPI AUTO CACHE STRING "Distributed runs over MPI: AUTO, ON or OFF")
set_property(CACHE WITH_GRPC WITH_MPI PROPERTY STRINGS AUTO ON OFF)

# Set HAVE_<name> from WITH_<name> and whether its library was found.
function(feature name found)
  set(have OFF)
  if(WITH_${name} AND found) # AUTO counts as true
    set(have ON)
  elseif(WITH_${name} AND NOT WITH_${name} STREQUAL "AUTO")
    message(FATAL_ERROR "WITH_${name} is ON, but its library was not found")
  endif()
  message(STATUS "${name}: ${have}")
  set(HAVE_${name} ${have} PARENT_SCOPE)
endfunction()

if(WITH_GRPC)
  pkg_check_modules(GRPC QUIET IMPORTED_TARGET grpc>=29 gpr)
  pkg_check_modules(PROTOBUF_C QUIET IMPORTED_TARGET libprotobuf-c>=1.4)
  find_program(PROTOC_C protoc-c)
endif()
set(grpc_parts OFF)
if(GRPC_FOUND AND PROTOBUF_C_FOUND AND PROTOC_C)
  set(grpc_parts ON)
  # pkg-config names everything below them as well, some sixty libraries that
  # shared ones find themselves: each of our links would look through them.
  find_library(GRPC_CORE grpc HINTS ${GRPC_LIBRARY_DIRS} REQUIRED)
  find_library(GRPC_GPR gpr HINTS ${GRPC_LIBRARY_DIRS} REQUIRED)
  set_target_properties(PkgConfig::GRPC PROPERTIES
    INTERFACE_LINK_LIBRARIES "${GRPC_CORE};${GRPC_GPR}")
endif()
feature(GRPC ${grpc_parts})

if(WITH_MPI)
  find_package(MPI QUIET COMPONENTS C)
endif()
feature(MPI "${MPI_C_FOUND}")
