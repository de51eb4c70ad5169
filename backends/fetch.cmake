# hornbill_fetch(): one source archive, from the folder HORNBILL_DEPS_DIR or from Debian's pool.
#
# Used by dependencies.cmake and, before any compiler is known, by cuda/toolchain.cmake. Archives are kept in
# build/sources, which all presets share.

get_filename_component(_hornbill_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(HORNBILL_SOURCES_DIR "${_hornbill_root}/build/sources" CACHE PATH "Where downloaded archives are unpacked")
if(EXISTS "${_hornbill_root}/../shared/deps")
  set(_hornbill_deps_default "${_hornbill_root}/../shared/deps")
endif()
set(HORNBILL_DEPS_DIR "${_hornbill_deps_default}" CACHE PATH "Folder with copies of the dependencies' archives")

# Debian's pool holds archives that Debian 12 itself does not ship. apt's own helper fetches them from the mirror
# that apt uses, and refuses a file whose hash differs.
function(_hornbill_fetch_from_pool pool_path sha256 file)
  set(helper /usr/lib/apt/apt-helper)
  if(NOT EXISTS ${helper})
    message(FATAL_ERROR "${pool_path} is needed and was not found: install it, or put its archive into a folder and set "
      "HORNBILL_DEPS_DIR to that folder")
  endif()
  execute_process(COMMAND apt-get indextargets --format "$(REPO_URI)" "Created-By: Packages"
    OUTPUT_VARIABLE bases OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE "\n" ";" bases "${bases}")
  list(REMOVE_DUPLICATES bases)
  foreach(base IN LISTS bases)
    execute_process(COMMAND ${helper} download-file "${base}pool/main/${pool_path}" "${file}.tmp" SHA256:${sha256}
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      file(RENAME "${file}.tmp" "${file}")
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "pool/main/${pool_path} could not be fetched from apt's mirrors. Check the network, or set "
    "HORNBILL_DEPS_DIR to a folder that holds a copy")
endfunction()

# hornbill_fetch(NAME LOCAL_NAME POOL_PATH SHA256) -> sets NAME to the path of the archive
function(hornbill_fetch result local_name pool_path sha256)
  foreach(candidate "${HORNBILL_DEPS_DIR}/${local_name}" "${HORNBILL_SOURCES_DIR}/${local_name}")
    if(EXISTS "${candidate}")
      file(SHA256 "${candidate}" actual)
      if(actual STREQUAL sha256)
        set(${result} "${candidate}" PARENT_SCOPE)
        return()
      endif()
      message(WARNING "${candidate} has another SHA256 than ${sha256}; it is not used")
    endif()
  endforeach()
  file(MAKE_DIRECTORY "${HORNBILL_SOURCES_DIR}")
  set(file "${HORNBILL_SOURCES_DIR}/${local_name}")
  message(STATUS "Fetching ${local_name}")
  _hornbill_fetch_from_pool("${pool_path}" ${sha256} "${file}")
  set(${result} "${file}" PARENT_SCOPE)
endfunction()

# Unpacks Kokkos once and sets HORNBILL_KOKKOS_SOURCE to its folder.
function(hornbill_fetch_kokkos)
  set(source "${HORNBILL_SOURCES_DIR}/kokkos-5.0.2")
  if(NOT EXISTS "${source}/CMakeLists.txt")
    hornbill_fetch(archive kokkos-5.0.2.tar.gz k/kokkos/kokkos_5.0.2.orig.tar.gz
      188817bb452ca805ee8701f1c5adbbb4fb83dc8d1c50624566a18a719ba0fa5e)
    file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${HORNBILL_SOURCES_DIR}")
  endif()
  set(HORNBILL_KOKKOS_SOURCE "${source}" PARENT_SCOPE)
endfunction()
