// SPDX-License-Identifier: Apache-2.0
#include "try_devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <link.h>

#include "../../lib/trace/environment_variables.hpp"

namespace coroscope::tools {
namespace {

constexpr const char* cupti_versions[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr const char* cupti_folders[] = {"lib64", "extras/CUPTI/lib64"};

/// Writes the path of the library, if the loader finds it.
bool open_library(const char* name, char (&path)[device_trial::longest_path]) {
    void* library = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) return false;
    link_map* map = nullptr;
    const bool has_name =
        ::dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && *map->l_name != '\0';
    const char* const found = has_name ? map->l_name : name;
    const std::size_t size = std::min(std::strlen(found), sizeof path - 1);
    std::memcpy(path, found, size);
    path[size] = '\0';
    return true;
}

bool open_cupti_of(const char* toolkit, char (&path)[device_trial::longest_path]) {
    if (toolkit == nullptr || *toolkit == '\0') return false;
    for (const char* folder : cupti_folders)
        for (const char* version : cupti_versions)
            if (open_library((std::string(toolkit) + '/' + folder + '/' + version).c_str(), path))
                return true;
    return false;
}

void find_cupti(char (&path)[device_trial::longest_path]) {
    const char* const named = ::secure_getenv(trace::name_of(trace::variable::cupti));
    if (named != nullptr && *named != '\0') {
        open_library(named, path);
        return;
    }
    for (const char* version : cupti_versions)
        if (open_library(version, path)) return;
    for (const char* toolkit :
         {::secure_getenv("CUDA_HOME"), ::secure_getenv("CUDA_PATH"), static_cast<char*>(nullptr)})
        if (open_cupti_of(toolkit, path)) return;
    open_cupti_of(COROSCOPE_CUDA_TOOLKIT, path);
}

}  // namespace

void try_devices(device_trial& found) {
    if (open_library("libcuda.so.1", found.driver)) find_cupti(found.cupti);
}

}  // namespace coroscope::tools
