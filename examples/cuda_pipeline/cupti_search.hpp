// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUPTI, found in the same places as Coroscope finds it: docs/how-to/gpu.md.

#include <cstdint>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace cuda_pipeline {

/// Opens the library that COROSCOPE_CUPTI names, else the loader's, else that of CUDA_HOME,
/// CUDA_PATH or the build's toolkit. Throws if there is none.
void* open_cupti();

/// Returns the version from cuptiGetVersion. Throws if there is no CUPTI.
std::uint32_t cupti_version();

/// Throws if the library has no function of that name.
template <class Function>
Function* find_in(void* library, const char* name) {
    void* found = ::dlsym(library, name);
    if (found == nullptr) throw std::runtime_error(std::string("CUPTI has no ") + name);
    return reinterpret_cast<Function*>(found);
}

}  // namespace cuda_pipeline
