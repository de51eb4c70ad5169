// Checks of calls of CUDA.
#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include <hornbill/error.hpp>

namespace hornbill::cuda {

/// \throws Error with CUDA's words, unless the call succeeded
inline void require_success(cudaError_t code) {
  if (code != cudaSuccess) throw Error(std::string("CUDA: ") + cudaGetErrorString(code));
}

}  // namespace hornbill::cuda
