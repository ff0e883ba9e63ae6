// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

namespace coroscope::runtime {

char* place_after_handler(char* place, std::size_t bytes) noexcept {
    thread_state& thread = this_thread;
    give_place_back(place, bytes);
    do {
        if (refill(thread, 1) == nullptr) return thread.record->nowhere;
    } while (!find_place(place, bytes));
    return place;
}

}  // namespace coroscope::runtime
