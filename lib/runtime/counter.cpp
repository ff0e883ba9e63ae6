// SPDX-License-Identifier: Apache-2.0
#include "counter.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace coroscope::runtime {
namespace {

constexpr unsigned invariant = 1U << 8;

// As a word: a hypervisor's page of the counter has a name with "tsc" in it, and is no word about the counter itself.
bool names_counter(char* clocks) noexcept {
    char* rest = nullptr;
    for (const char* name = ::strtok_r(clocks, " \n", &rest); name != nullptr;
         name = ::strtok_r(nullptr, " \n", &rest))
        if (std::strcmp(name, "tsc") == 0) return true;
    return false;
}

// The kernel takes a counter that drifts between processors off this list. Where it cannot be read,
// the processor's word stands.
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

}  // namespace coroscope::runtime
