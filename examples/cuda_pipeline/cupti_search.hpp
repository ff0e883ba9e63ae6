// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUPTI, found where Coroscope finds it: docs/gpu.md.

#include <cstdint>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace cuda_pipeline {

/// The library that COROSCOPE_CUPTI names, else the loader's, else that of CUDA_HOME, CUDA_PATH or the build's toolkit.
/// Throws where there is none.
void* open_cupti();

/// As cuptiGetVersion tells it. Throws where there is no CUPTI.
std::uint32_t cupti_version();

/// Throws where the library has no such function.
template <class Function>
Function* find_in(void* library, const char* name) {
    void* found = ::dlsym(library, name);
    if (found == nullptr) throw std::runtime_error(std::string("CUPTI has no ") + name);
    return reinterpret_cast<Function*>(found);
}

}  // namespace cuda_pipeline
