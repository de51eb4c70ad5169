# Kokkos Kernels as plain headers: nothing pre-instantiated, no third-party libraries.
#
# The package's own config speaks of how that package was built, so ours takes its place, and its lists of
# pre-instantiated templates get empty stand-ins.
set(HORNBILL_KOKKOS_KERNELS_INCLUDE ${CMAKE_BINARY_DIR}/kokkos_kernels)
if(NOT EXISTS ${HORNBILL_KOKKOS_KERNELS_INCLUDE}/KokkosKernels_config.h)
  hornbill_fetch(_deb kokkos-kernels-5.0.2.deb t/trilinos/libtrilinos-kokkos-kernels-dev_17.0.0%2bdfsg-5_amd64.deb
    11a645e2b3468aafc62e021dd5e06559841f2a6ef6725265dbfa6bb1fd7fbb9b)
  set(_unpacked ${CMAKE_BINARY_DIR}/kokkos_kernels_package)
  execute_process(COMMAND dpkg-deb -x ${_deb} ${_unpacked} COMMAND_ERROR_IS_FATAL ANY)
  set(_from ${_unpacked}/usr/include/trilinos)
  file(GLOB _headers ${_from}/Kokkos*.hpp)
  file(COPY ${_headers} DESTINATION ${HORNBILL_KOKKOS_KERNELS_INCLUDE})
  file(GLOB _lists RELATIVE ${_from} ${_from}/generated_specializations_hpp/*)
  foreach(_list IN LISTS _lists)
    file(WRITE ${HORNBILL_KOKKOS_KERNELS_INCLUDE}/${_list} "")
  endforeach()
  file(REMOVE_RECURSE ${_unpacked})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/KokkosKernels_config.h.in
    ${HORNBILL_KOKKOS_KERNELS_INCLUDE}/KokkosKernels_config.h COPYONLY)
endif()
