// SPDX-License-Identifier: Apache-2.0
#include "cupti_search.hpp"

#include <cstdlib>
#include <vector>

#include <cupti.h>

namespace cuda_pipeline {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// Returns the names to try. The first ones have no folder, so that the loader searches for them.
std::vector<std::string> places() {
    std::vector<std::string> folders{""};
    for (const std::string& toolkit :
         {variable("CUDA_HOME"), variable("CUDA_PATH"), std::string(COROSCOPE_CUDA_TOOLKIT)}) {
        if (toolkit.empty()) continue;
        folders.push_back(toolkit + "/lib64/");
        folders.push_back(toolkit + "/extras/CUPTI/lib64/");
    }
    std::vector<std::string> found;
    for (const std::string& folder : folders)
        for (const char* version : {"libcupti.so.13", "libcupti.so.12"})
            found.push_back(folder + version);
    return found;
}

}  // namespace

void* open_cupti() {
    const std::string named = variable("COROSCOPE_CUPTI");
    for (const std::string& path : named.empty() ? places() : std::vector{named})
        if (void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    throw std::runtime_error(std::string("CUPTI was not found: ") + ::dlerror());
}

std::uint32_t cupti_version() {
    const auto ask = find_in<decltype(cuptiGetVersion)>(open_cupti(), "cuptiGetVersion");
    std::uint32_t version = 0;
    if (ask(&version) != CUPTI_SUCCESS) throw std::runtime_error("cuptiGetVersion fails");
    return version;
}

}  // namespace cuda_pipeline
