// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <coroscope/task.hpp>

#include "../base/fault_record.hpp"

namespace coroscope::detail {
namespace {

constinit runtime::fault_record empty_task{
    "coroscope: an empty task (default-constructed or moved from) is awaited; await only a task "
    "whose valid() is true. Place: "};
constinit runtime::fault_record finished_task{
    "coroscope: a task that has finished is awaited again; await a task once, and keep its result. "
    "Place: "};

}  // namespace

void sync_wait_state::wait() noexcept {
    const std::atomic_ref<int> done(done_);
    while (done.load(std::memory_order_acquire) == 0)
        done.wait(0, std::memory_order_acquire);  // pairs with set()
}

void sync_wait_state::set() noexcept {
    const std::atomic_ref<int> done(done_);
    done.store(1, std::memory_order_release);
    done.notify_one();
}

void refuse_task(bool is_empty, const void* where) noexcept {
    char place[256] = "unknown";
    if (where != nullptr) {
        const std::source_location at = location_at(where);
        std::snprintf(place, sizeof place, "%s:%u", at.file_name(),
                      static_cast<unsigned>(at.line()));
    }
    (is_empty ? empty_task : finished_task).note(place);
    std::abort();
}

}  // namespace coroscope::detail
