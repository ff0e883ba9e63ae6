// SPDX-License-Identifier: Apache-2.0
#include "counter.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace coroscope::runtime::inline base {
namespace {

constexpr unsigned invariant = 1U << 8;

// Compares whole words, because the list may have other names that contain "tsc", such as that of a
// hypervisor's clock page. These do not mean that the counter itself is usable.
bool names_counter(char* clocks) noexcept {
    char* rest = nullptr;
    for (const char* name = ::strtok_r(clocks, " \n", &rest); name != nullptr;
         name = ::strtok_r(nullptr, " \n", &rest))
        if (std::strcmp(name, "tsc") == 0) return true;
    return false;
}

// The kernel removes a counter that drifts between processors from this list. If the list cannot be
// read, the processor's flags decide.
bool kernel_trusts_counter(const char* list) noexcept {
    const int file = ::open(list, O_RDONLY | O_CLOEXEC);
    if (file < 0) return true;
    char clocks[256] = {};
    const ssize_t bytes = ::read(file, clocks, sizeof(clocks) - 1);
    ::close(file);
    return bytes <= 0 || names_counter(clocks);
}

}  // namespace

bool counter_is_clock(const counter_facts& facts) noexcept {
    return (facts.power_management & invariant) != 0 && facts.readable &&
           kernel_trusts_counter(facts.clocks);
}

}  // namespace coroscope::runtime::inline base
