# How Hornbill's dependencies are had: an installed one first (find_package), else Kokkos and Kokkos Kernels from
# their archives. Everything else is a package of the system.
include(${CMAKE_CURRENT_LIST_DIR}/fetch.cmake)

# --- Kokkos -----------------------------------------------------------------------------------------------------
find_package(Kokkos 5.0 CONFIG QUIET)
if(Kokkos_FOUND)
  message(STATUS "Kokkos ${Kokkos_VERSION}: ${Kokkos_DIR} (${Kokkos_DEVICES})")
else()
  hornbill_fetch_kokkos()
  message(STATUS "Kokkos 5.0.2: built here from ${HORNBILL_KOKKOS_SOURCE}")
  # Not EXCLUDE_FROM_ALL: `cmake --install` must install the Kokkos that Hornbill was built with.
  add_subdirectory(${HORNBILL_KOKKOS_SOURCE} ${CMAKE_BINARY_DIR}/kokkos SYSTEM)
endif()

if(HORNBILL_PORTABLE_BINARIES)
  add_link_options(-static-libstdc++ -static-libgcc)
  if(TARGET Kokkos::CUDA)
    get_target_property(_cuda Kokkos::CUDA ALIASED_TARGET)
    if(NOT _cuda)
      set(_cuda Kokkos::CUDA)
    endif()
    set_property(TARGET ${_cuda} PROPERTY INTERFACE_LINK_LIBRARIES CUDA::cuda_driver CUDA::cudart_static)
  endif()
endif()

# --- Kokkos Kernels (templates only; no part of Hornbill's installed interface) ------------------------------------
find_package(KokkosKernels CONFIG QUIET)
add_library(hornbill_kokkos_kernels INTERFACE)
if(KokkosKernels_FOUND)
  target_link_libraries(hornbill_kokkos_kernels INTERFACE Kokkos::kokkoskernels)
else()
  include(${CMAKE_CURRENT_LIST_DIR}/kokkos_kernels/headers.cmake)
  target_include_directories(hornbill_kokkos_kernels SYSTEM INTERFACE ${HORNBILL_KOKKOS_KERNELS_INCLUDE})
  target_link_libraries(hornbill_kokkos_kernels INTERFACE Kokkos::kokkos)
endif()

# --- HDF5 ---------------------------------------------------------------------------------------------------------
include(${CMAKE_CURRENT_LIST_DIR}/hdf5.cmake)

# --- fmt, CLI11, nlohmann-json, doctest -----------------------------------------------------------------------------
find_package(fmt REQUIRED)
set(HORNBILL_FMT fmt::fmt)
if(HORNBILL_PORTABLE_BINARIES)
  set(HORNBILL_FMT fmt::fmt-header-only)
endif()
if(HORNBILL_ENABLE_CLI OR HORNBILL_ENABLE_PERF)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
if(HORNBILL_ENABLE_TESTS)
  find_package(doctest REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()

# --- MPI (the program's, for agents in several processes) -----------------------------------------------------------
if(HORNBILL_ENABLE_CLI AND NOT HORNBILL_PORTABLE_BINARIES)
  find_package(MPI COMPONENTS C QUIET)
endif()
option(HORNBILL_ENABLE_MPI "Let mpirun start several processes of the program" ${MPI_C_FOUND})
if(HORNBILL_ENABLE_MPI AND NOT TARGET MPI::MPI_C)
  find_package(MPI REQUIRED COMPONENTS C)
endif()
