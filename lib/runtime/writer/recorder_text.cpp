// SPDX-License-Identifier: Apache-2.0

// Records with text behind them.

#include <algorithm>
#include <cstring>

#include "recorder.hpp"

namespace coroscope::runtime::inline writer {
namespace {

// Tries again if a signal handler recorded in between.
char* take_text_place(std::size_t bytes) noexcept {
    for (;;) {
        char* at = this_thread.cursor;
        if (bytes > guaranteed_bytes || at >= load_limit()) at = refill_bytes(this_thread, bytes);
        if (at == nullptr) return nullptr;
        char* place = take_place(bytes);
        if (place == at) return place;
        give_place_back(place, bytes);
    }
}

}  // namespace

bool write_text(std::uint64_t first, record_kind kind, std::uint32_t id, const char* text,
                std::size_t size) noexcept {
    const std::size_t kept = std::min(size, trace::payload_limit);
    const std::size_t bytes = trace::record_unit_bytes + trace::padded_payload(kept);
    char* at = take_text_place(bytes);
    if (at == nullptr) return false;
    if (kept < size) count_truncated();
    store_word(at, first);
    if (kept != 0)
        std::memcpy(at + trace::record_unit_bytes, text, kept);  // no text may be a null pointer
    publish_tag(at, make_tag(kind, id, kept));
    return true;
}

}  // namespace coroscope::runtime::inline writer
