# tailgate::hdr: HdrHistogram_c, from the system if it has one, else built from
# the archive that scripts/setup put into .deps/.  Either way the header is
# <hdr/hdr_histogram.h>, and nothing of the library is installed with ours.

# scripts/setup reads the next two lines: the only pin.
set(HDR_VERSION 0.11.8)
set(HDR_SHA256 bb95351a6a8b242dc9be1f28562761a84d4cf0a874ffc90a9b630770a6468e94)

# Set `target` to a library built from the archive.
function(hdr_from_archive target)
  set(archive "${PROJECT_SOURCE_DIR}/.deps/HdrHistogram_c-${HDR_VERSION}.tar.gz")
  set(unpacked "${PROJECT_BINARY_DIR}/_deps/HdrHistogram_c-${HDR_VERSION}")
  if(NOT EXISTS "${archive}")
    message(FATAL_ERROR "HdrHistogram_c not found: run scripts/setup")
  endif()
  file(SHA256 "${archive}" hash)
  if(NOT hash STREQUAL HDR_SHA256)
    message(FATAL_ERROR "${archive} is damaged: run scripts/setup")
  endif()
  if(NOT EXISTS "${unpacked}/CMakeLists.txt")
    file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${PROJECT_BINARY_DIR}/_deps")
  endif()

  foreach(part BUILD_PROGRAMS BUILD_SHARED INSTALL_STATIC INSTALL_SHARED)
    set(HDR_HISTOGRAM_${part} OFF CACHE INTERNAL "")
  endforeach()
  add_subdirectory("${unpacked}" "${unpacked}-build" EXCLUDE_FROM_ALL)
  # Its encoder shifts negative numbers, which works and is reported.
  target_compile_options(hdr_histogram_static PRIVATE
    ${SANITIZE_FLAGS} -fno-sanitize=shift)
  set(${target} hdr_histogram_static PARENT_SCOPE)
endfunction()

find_package(hdr_histogram 0.11 CONFIG QUIET)
if(NOT hdr_histogram_FOUND)
  pkg_check_modules(SYSTEM_HDR QUIET IMPORTED_TARGET hdr_histogram>=0.11)
endif()

if(TARGET hdr_histogram::hdr_histogram_static)
  set(hdr_target hdr_histogram::hdr_histogram_static)
elseif(TARGET hdr_histogram::hdr_histogram)
  set(hdr_target hdr_histogram::hdr_histogram)
elseif(TARGET PkgConfig::SYSTEM_HDR)
  set(hdr_target PkgConfig::SYSTEM_HDR)
else()
  hdr_from_archive(hdr_target)
endif()
if(hdr_histogram_FOUND)
  set(HDR_VERSION ${hdr_histogram_VERSION})
elseif(SYSTEM_HDR_FOUND)
  set(HDR_VERSION ${SYSTEM_HDR_VERSION})
endif()
message(STATUS "HdrHistogram_c: ${hdr_target}")

# An installed library names .../include/hdr as its include directory, the tree
# names .../include: offer the parent of the former, as system headers.
add_library(tailgate_hdr INTERFACE)
add_library(tailgate::hdr ALIAS tailgate_hdr)
target_link_libraries(tailgate_hdr INTERFACE ${hdr_target})
get_target_property(hdr_includes ${hdr_target} INTERFACE_INCLUDE_DIRECTORIES)
foreach(dir IN LISTS hdr_includes)
  string(REGEX REPLACE "/hdr/?$" "" dir "${dir}")
  target_include_directories(tailgate_hdr SYSTEM INTERFACE "${dir}")
endforeach()
