// SPDX-License-Identifier: Apache-2.0

// A program that unloads a library that records, and overwrites its addresses: unload_program
// LIBRARY FILE LATER_FILE
//
// The session of FILE records all the time, the session of LATER_FILE begins after the library is
// unloaded. Exit code 77: the library stays loaded.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <coroscope/profile.hpp>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include "../support/session_steps.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

struct address_range {
    std::string_view library;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

int find_addresses(dl_phdr_info* module, std::size_t, void* data) {
    auto& found = *static_cast<address_range*>(data);
    if (found.library != module->dlpi_name) return 0;
    for (int at = 0; at < module->dlpi_phnum; ++at) {
        const auto& segment = module->dlpi_phdr[at];
        if (segment.p_type == PT_LOAD)
            found.end = std::max(found.end, module->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    found.begin = module->dlpi_addr;
    return 1;
}

// Returns false if the addresses are still in use.
bool fill(const address_range& gone) {
    const std::size_t bytes = gone.end - gone.begin;
    void* const wanted = reinterpret_cast<void*>(gone.begin);
    void* const at = ::mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != wanted) return false;
    std::memset(at, '?', bytes);
    return true;
}

int use_and_unload(const char* path) {
    void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 1;
    auto* const use = reinterpret_cast<int (*)()>(::dlsym(library, "use_every_name"));
    if (use == nullptr || use() != 42) return 2;
    address_range loaded{path};
    if (::dl_iterate_phdr(find_addresses, &loaded) == 0) return 3;
    if (::dlclose(library) != 0) return 4;
    return fill(loaded) ? 0 : 77;
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) return 5;
    profile session{{.output = words[2], .all_threads = true, .record_arguments = true}};
    const int failed = use_and_unload(words[1]);
    steps(5);
    session.stop();
    if (failed != 0) return failed;
    profile later{{.output = words[3], .all_threads = true}};
    steps(5);
    return 0;
}
