# tailgate_proto: the messages of common/proto, compiled by protoc-c into the
# build tree.  Code that is generated gets our sanitizers, not our warnings.
set(proto_dir "${PROJECT_BINARY_DIR}/include/common/proto")
file(MAKE_DIRECTORY "${proto_dir}")
set(proto_sources "")
foreach(name health inference predict)
  add_custom_command(
    OUTPUT "${proto_dir}/${name}.pb-c.c" "${proto_dir}/${name}.pb-c.h"
    COMMAND "${PROTOC_C}" "--c_out=${proto_dir}"
      "-I${PROJECT_SOURCE_DIR}/common/proto" "${name}.proto"
    DEPENDS "${PROJECT_SOURCE_DIR}/common/proto/${name}.proto" VERBATIM)
  list(APPEND proto_sources "${proto_dir}/${name}.pb-c.c" "${proto_dir}/${name}.pb-c.h")
endforeach()

add_library(tailgate_proto STATIC ${proto_sources})
target_compile_options(tailgate_proto PRIVATE -w ${SANITIZE_FLAGS})
target_include_directories(tailgate_proto SYSTEM PUBLIC "${PROJECT_BINARY_DIR}/include")
target_link_libraries(tailgate_proto PUBLIC PkgConfig::PROTOBUF_C)
