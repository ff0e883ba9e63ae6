// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

namespace coroscope::runtime::inline writer {

std::uint64_t careful_now() noexcept {
    // The C library's clock reads the counter, too.
    return register_thread(this_thread) != nullptr ? current_ticks() : 0;
}

char* place_after_handler(char* place, std::size_t bytes) noexcept {
    thread_state& thread = this_thread;
    give_place_back(place, bytes);
    do {
        if (refill(thread, 1) == nullptr) return thread.record->nowhere;
    } while (!find_place(place, bytes));
    return place;
}

}  // namespace coroscope::runtime::inline writer
