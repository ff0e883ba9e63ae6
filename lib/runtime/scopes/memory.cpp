// SPDX-License-Identifier: Apache-2.0
#include <coroscope/memory.hpp>

#include "../base/report_guard.hpp"
#include "../carried/feature_data.hpp"
#include "../writer/recorder.hpp"

namespace coroscope::detail {

using namespace runtime;

namespace {

// Records store a report by its number, so both enumerations must agree.
constexpr bool is_same(memory_report one, trace::memory_event other) noexcept {
    return static_cast<std::uint32_t>(one) == static_cast<std::uint32_t>(other);
}
static_assert(is_same(memory_report::allocated, trace::memory_event::allocated) &&
              is_same(memory_report::released, trace::memory_event::released) &&
              is_same(memory_report::out_of_memory, trace::memory_event::out_of_memory));

void write_memory(memory_report what, const void* address, std::size_t bytes,
                  const memory_totals& totals) noexcept {
    const std::uint64_t ticks = now();
    char* at = reserve();
    if (at == nullptr) return;
    at = take_reserved(at, 48);
    store_word(at, ticks);
    store_word(at + 16, reinterpret_cast<std::uintptr_t>(address));
    store_word(at + 24, bytes);
    store_word(at + 32, static_cast<std::uint64_t>(totals.allocated));
    store_word(at + 40, static_cast<std::uint64_t>(totals.reserved));
    publish_tag(at, make_tag(record_kind::memory, 0, static_cast<std::uint64_t>(what)));
}

}  // namespace

void record_memory(memory_report what, const void* address, std::size_t bytes,
                   const memory_totals& totals) noexcept {
    const report_guard outermost;
    if (!outermost) return;
    const bool registered = register_thread(this_thread) != nullptr;
    if (begins_data_of(trace::feature_memory)) {
        if (registered)
            write_memory(what, address, bytes, totals);
        else
            count_unregistered(1);
    }
}

}  // namespace coroscope::detail
