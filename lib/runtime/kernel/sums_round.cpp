// SPDX-License-Identifier: Apache-2.0
#include "sums_round.hpp"

#include "../base/clock.hpp"

namespace coroscope::runtime::inline kernel {

void write_sums(kernel_log& log, watched_thread& thread) noexcept {
    log.times(thread.seen_ns,
              {thread.id, 0, thread.sums.on_cpu_ns, thread.sums.delay_ns, thread.sums.stretches});
    thread.is_written = true;
    thread.has_changed = false;
}

void sums_round::read(watched_thread& thread, bool is_read_often) noexcept {
    if (!files_.read(thread, thread.sums, is_read_often)) return threads_.remove(thread);
    thread.seen_ns = monotonic_now();
    write_sums(log_, thread);
}

void sums_round::turn(std::uint32_t most) noexcept {
    for (; most != 0 && !is_over(); ++next_) {
        watched_thread& thread = threads_.at(next_);
        if (thread.id == 0 || thread.is_ours) continue;
        if (!thread.has_changed) {
            files_.close(thread);
            continue;
        }
        --most;
        read(thread, thread.file >= 0);
    }
}

}  // namespace coroscope::runtime::inline kernel
