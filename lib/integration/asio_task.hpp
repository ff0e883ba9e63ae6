// SPDX-License-Identifier: Apache-2.0
#pragma once

// The task behind Asio's operations, and the records that are written about it. A task is a heap
// object shared by the operations that refer to it; only the thread that runs the task touches its
// fields, but for the count.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

#include <coroscope/integration/asio.hpp>

#include "../runtime/attribute_nodes.hpp"
#include "../runtime/recorder.hpp"

namespace coroscope::asio {

struct task {
    std::atomic<std::uint32_t> references{1};
    std::uint32_t serial = 0;  ///< of the await that is current
    std::uint64_t id = 0;
    std::uint64_t carried = 0;  ///< session and attributes, while it does not run
    task* awaiter = nullptr;    ///< counted: the task that awaits this one by co_spawn
    std::uint32_t awaiter_serial = 0;
    int entry_line = 0;  ///< line of the co_spawn location that started it, 0 for others
    std::uint16_t announced = 0;
    bool finished = false;
};

using namespace runtime;
using detail::load_gate;

inline task* retain(task* counted) noexcept {
    if (counted != nullptr) counted->references.fetch_add(1, std::memory_order_relaxed);
    return counted;
}

inline void release(task* counted) noexcept {
    while (counted != nullptr && counted->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        task* awaiter = counted->awaiter;
        drop_carried(counted->carried);
        delete counted;
        counted = awaiter;
    }
}

inline std::uint64_t current_task() noexcept { return task_of(this_thread.mark); }

inline bool starts_with(const char* text, const char* head) noexcept {
    return std::strncmp(text, head, std::strlen(head)) == 0;
}

// Work handed to an executor is ready when it is created; its wake is its creation.
inline bool is_executor_work(const char* operation) noexcept {
    return starts_with(operation, "execute") || starts_with(operation, "post") ||
           starts_with(operation, "dispatch") || starts_with(operation, "defer");
}
inline bool is_timer(const char* type) noexcept { return starts_with(type, "deadline_timer"); }

inline std::uint32_t operation_site(const char* type, const char* operation) noexcept {
    site* where = intern_operation(type, operation);
    return where == nullptr ? 0 : site_id(*where);
}

inline void write_spawn(task& spawned, std::uint64_t ticks, std::uint32_t site, std::uint32_t flags,
                        std::uint64_t parent) noexcept {
    char* at = reserve();
    if (at == nullptr) return;
    spawned.announced = static_cast<std::uint16_t>(this_thread.bound_session);
    write_record(at, ticks, make_tag(record_kind::spawn, site, flags | trace::spawn_asio),
                 spawned.id, parent);
    record_carried(spawned.id, spawned.carried);
    keep_in_task_table({spawned.id, ticks, parent, site, flags | trace::spawn_asio});
}

// A place for a record about a task that this session may not know yet.
inline char* reserve_for(task& known) noexcept {
    char* at = reserve();
    if (at == nullptr || known.announced == static_cast<std::uint16_t>(this_thread.bound_session))
        return at;
    write_spawn(known, 0, 0, trace::spawn_adopted, 0);
    return reserve();
}

inline task* make_task(int entry_line) noexcept {
    auto* made = new (std::nothrow) task;
    if (made == nullptr) return nullptr;
    made->id = detail::new_task_id();
    made->carried = retain_carried(this_thread.carried);
    made->entry_line = entry_line;
    return made;
}

inline void record(task& about, record_kind kind, std::uint64_t ticks, std::uint32_t site,
                   std::uint64_t value, std::uint64_t other) noexcept {
    if (char* at = reserve_for(about))
        write_record(at, ticks, make_tag(kind, site, value), about.id, other);
}

inline void finish(task& ended, std::uint32_t flags, std::uint64_t next) noexcept {
    if (ended.finished) return;
    ended.finished = true;
    if (load_gate() == 0) return;
    const std::uint64_t ticks = now();
    drop_from_task_table(ended.id);
    if (ended.awaiter != nullptr)
        record(*ended.awaiter, record_kind::wake, ticks, 0,
               this_thread.mark & detail::mark_thread_mask, ended.id);
    record(ended, record_kind::finish, ticks, 0, flags, next);
}

}  // namespace coroscope::asio
