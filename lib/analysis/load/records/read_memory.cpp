// SPDX-License-Identifier: Apache-2.0
#include "read_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <string_view>
#include <tuple>
#include <vector>

namespace coroscope::analysis::inline records {

using coroscope::trace::module_body;
using coroscope::trace::record_view;

memory_event read_memory(const record_view& record, std::uint32_t thread, clock_map& clock) {
    using happened = coroscope::trace::memory_event;
    const auto what = static_cast<happened>(record.value());
    memory_event found;
    found.time_ns = clock.to_ns(record.word(0));
    found.address = record.word(2);
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    found.bytes = static_cast<std::int64_t>(std::min(record.word(3), most));
    if (what == happened::released) found.bytes = -found.bytes;
    found.total_allocated = static_cast<std::int64_t>(record.word(4));
    found.total_reserved = static_cast<std::int64_t>(record.word(5));
    found.thread = thread;
    found.out_of_memory = what == happened::out_of_memory;
    return found;
}

code_module read_module(const record_view& record) {
    code_module found;
    module_body body;
    const std::size_t bytes = std::min<std::size_t>(record.value(), record.payload_bytes());
    if (bytes < sizeof body) return found;
    std::memcpy(&body, record.payload(), sizeof body);
    std::string_view rest(reinterpret_cast<const char*>(record.payload()) + sizeof body,
                          bytes - sizeof body);
    if (body.build_id_bytes > rest.size()) return found;
    found.load_address = record.word(0);
    found.bytes = body.bytes;
    for (const char c : rest.substr(0, body.build_id_bytes)) {
        const auto byte = static_cast<unsigned char>(c);
        found.build_id += "0123456789abcdef"[byte >> 4];
        found.build_id += "0123456789abcdef"[byte & 15];
    }
    found.path = rest.substr(body.build_id_bytes);
    return found;
}

namespace {

// Sorts by time and thread. Events of one thread and moment keep their order, because an address
// may be released and allocated again in the same moment.
void order_memory(std::vector<memory_event>& memory) {
    std::vector<std::size_t> order(memory.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&memory](std::size_t left, std::size_t right) {
        const memory_event &one = memory[left], &other = memory[right];
        return std::tie(one.time_ns, one.thread, left) <
               std::tie(other.time_ns, other.thread, right);
    });
    std::vector<memory_event> ordered;
    ordered.reserve(memory.size());
    for (const std::size_t at : order) ordered.push_back(memory[at]);
    memory.swap(ordered);
}

}  // namespace

void order_memory_and_modules(trace& loaded) {
    order_memory(loaded.memory);
    const auto place = [](const code_module& of) {
        return std::tie(of.load_address, of.path, of.bytes);
    };
    std::vector<code_module>& modules = loaded.modules;
    std::sort(modules.begin(), modules.end(),
              [&](const code_module& left, const code_module& right) {
                  return place(left) < place(right);
              });
    const auto end = std::unique(modules.begin(), modules.end(),
                                 [&](const code_module& left, const code_module& right) {
                                     return place(left) == place(right);
                                 });
    modules.erase(end, modules.end());
}

}  // namespace coroscope::analysis::inline records
