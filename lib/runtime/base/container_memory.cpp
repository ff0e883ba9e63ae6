// SPDX-License-Identifier: Apache-2.0
#include "container_memory.hpp"

#include <cstdlib>

#include "control_groups.hpp"

namespace coroscope::runtime::inline base {
namespace {

// A limit that is not set is the word "max" (version 2), or close to 2^63 (version 1).
std::uint64_t limit_in(std::string_view folder, const char* name) noexcept {
    char text[32];
    if (!read_group_file(folder, name, text, sizeof text) || *text < '0' || *text > '9')
        return no_group_limit;
    const std::uint64_t bytes = std::strtoull(text, nullptr, 10);
    return bytes >= std::uint64_t{1} << 62 ? no_group_limit : bytes;
}

constexpr group_limit memory{
    "memory",
    {"/memory", nullptr},
    [](std::string_view folder) noexcept { return limit_in(folder, "memory.limit_in_bytes"); },
    [](std::string_view folder) noexcept { return limit_in(folder, "memory.max"); }};

}  // namespace

std::uint64_t container_memory(const char* root) noexcept {
    const std::uint64_t least = least_group_limit(memory, root);
    return least == no_group_limit ? 0 : least;
}

}  // namespace coroscope::runtime::inline base
