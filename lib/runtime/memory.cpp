// SPDX-License-Identifier: Apache-2.0
#include <coroscope/memory.hpp>

#include "recorder.hpp"

namespace coroscope::detail {

using namespace runtime;

namespace {

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
    // A report is made inside an allocator: what it runs into must not report again.
    if (this_thread.reporting) return;
    this_thread.reporting = true;
    const bool registered = register_thread(this_thread) != nullptr;
    if (wants(trace::feature_memory)) {
        if (registered)
            write_memory(what, address, bytes, totals);
        else
            count_unregistered(1);
    }
    this_thread.reporting = false;
}

}  // namespace coroscope::detail
