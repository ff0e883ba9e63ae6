// SPDX-License-Identifier: Apache-2.0
#include "ended_threads.hpp"

#include <cerrno>

#include <sys/syscall.h>
#include <unistd.h>

#include "../base/kept_errno.hpp"
#include "session_table.hpp"
#include "thread_list.hpp"

namespace coroscope::runtime::inline writer {
namespace {

constinit thread_record* ended = nullptr;  // kept, because the program's free() may have a scope

bool has_ended(const thread_record& record) noexcept {
    return ::syscall(SYS_tgkill, ::getpid(), record.os_id, 0) != 0 && errno == ESRCH;
}

void forget(thread_record& record) noexcept {
    unlist_thread(record);
    for (binding& bound : record.bindings)
        if (bound.generation.load(std::memory_order_relaxed) != 0) end_binding(bound);
    record.next = ended;
    ended = &record;
}

}  // namespace

thread_record* first_living_thread() noexcept {
    const kept_errno programs;
    for (thread_record* each = first_thread(); each != nullptr;) {
        thread_record* const next = each->next;
        if (has_ended(*each)) forget(*each);
        each = next;
    }
    return first_thread();
}

}  // namespace coroscope::runtime::inline writer
