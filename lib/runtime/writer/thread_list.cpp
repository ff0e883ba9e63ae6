// SPDX-License-Identifier: Apache-2.0
#include "thread_list.hpp"

#include "../base/forks.hpp"

namespace coroscope::runtime::inline writer {
namespace {

constinit quiet_mutex list_mutex;
constinit thread_record* threads = nullptr;
constinit std::uint32_t last_id = 0;

constinit fork_guest list_around_forks = guest_with<list_mutex>(fork_rank::registry);
[[gnu::constructor(101)]] void join_list() noexcept { join_forks(list_around_forks); }

}  // namespace

quiet_mutex& registry_mutex() noexcept { return list_mutex; }
thread_record* first_thread() noexcept { return threads; }

void list_thread(thread_record& record) noexcept {
    record.id = ++last_id;
    record.next = threads;
    threads = &record;
}

void unlist_thread(thread_record& record) noexcept {
    for (thread_record** at = &threads; *at != nullptr; at = &(*at)->next) {
        if (*at != &record) continue;
        *at = record.next;
        return;
    }
}

void unlist_all_but(thread_record* only) noexcept {
    threads = only;
    if (only != nullptr) only->next = nullptr;
}

}  // namespace coroscope::runtime::inline writer
