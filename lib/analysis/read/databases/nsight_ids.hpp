// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meaning of Nsight Systems' numbers: threads, correlation ids, kinds of copies.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace coroscope::analysis::inline databases {

/// Returns the process of a global id, which contains a process and a thread in 24 bits each.
inline std::int64_t process_of(std::int64_t id) { return (id >> 24) & 0xff'ffff; }

struct global_id {
    std::string process;
    std::string thread;
    explicit global_id(std::int64_t id)
        : process(std::to_string(process_of(id))), thread(std::to_string(id & 0xff'ffff)) {}
};

/// A call that may have launched something.
struct call {
    std::int64_t thread = 0;  // global id
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t range = 0;  // the external id of the innermost range around it
};

/// Correlation ids are counted in each process on its own.
struct call_key {
    std::int64_t process = 0;
    std::int64_t correlation = 0;
    bool operator==(const call_key&) const = default;
};

struct call_key_hash {
    std::size_t operator()(const call_key& key) const noexcept {
        return std::hash<std::int64_t>()(key.correlation << 24 ^ key.process);
    }
};

/// Returns Kineto's name of a kind of copy (CUPTI_ACTIVITY_MEMCPY_KIND_…).
inline std::string copy_name(std::int64_t kind) {
    switch (kind) {
        case 1: return "Memcpy HtoD";
        case 2: return "Memcpy DtoH";
        case 3: return "Memcpy HtoA";
        case 4: return "Memcpy AtoH";
        case 5: return "Memcpy AtoA";
        case 6: return "Memcpy AtoD";
        case 7: return "Memcpy DtoA";
        case 8: return "Memcpy DtoD";
        case 9: return "Memcpy HtoH";
        case 10: return "Memcpy PtoP";
        default: return "Memcpy (kind " + std::to_string(kind) + ")";
    }
}

}  // namespace coroscope::analysis::inline databases
