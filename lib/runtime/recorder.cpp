// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

namespace coroscope::runtime {

char* place_after_handler(char* place, std::size_t bytes) noexcept {
    thread_state& thread = this_thread;
    while (place >= load_limit()) {
        give_place_back(place, bytes);
        if (refill(thread, 1) == nullptr) return thread.record->nowhere;
        place = take_place(bytes);
    }
    return place;
}

}  // namespace coroscope::runtime
