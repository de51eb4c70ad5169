# Kokkos compiles CUDA through its compiler wrapper, which must be known before the first project() call.
# A compiler that was given (an installed Kokkos' own nvcc_wrapper, or clang) is kept.
include(${CMAKE_CURRENT_LIST_DIR}/../fetch.cmake)
set(HORNBILL_CUDA_ARCH HOPPER90 CACHE STRING "Kokkos' name of the GPU architecture: HOPPER90, AMPERE80, ADA89, ...")
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  hornbill_fetch_kokkos()
  set(CMAKE_CXX_COMPILER ${HORNBILL_KOKKOS_SOURCE}/bin/nvcc_wrapper)
endif()
set(Kokkos_ARCH_${HORNBILL_CUDA_ARCH} ON CACHE BOOL "GPU architecture, from HORNBILL_CUDA_ARCH")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HORNBILL_CUDA_ARCH)
