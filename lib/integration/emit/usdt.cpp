// SPDX-License-Identifier: Apache-2.0

// Compiled with COROSCOPE_HAS_USDT if SystemTap's header was found.

#include <coroscope/integration/usdt.hpp>

#if COROSCOPE_HAS_USDT

#include <mutex>
#include <new>
#include <utility>

#include "../../runtime/base/environment_words.hpp"
#include "../../runtime/base/forked_mutex.hpp"
#include "../../runtime/observers/observer_registry.hpp"
#include "../../runtime/tasks/live_transitions.hpp"
#include "../../runtime/writer/sites.hpp"

#define _SDT_HAS_SEMAPHORES 1  // NOLINT(readability-identifier-naming): the header's own
#include <sys/sdt.h>

// A tool that attaches to a probe increments its semaphore, which it finds by name.
#define COROSCOPE_SEMAPHORE(probe)                                                                 \
    extern "C" {                                                                                   \
    __attribute__((section(".probes"),                                                             \
                   used)) volatile unsigned short coroscope_##probe##_semaphore = 0;               \
    }
COROSCOPE_SEMAPHORE(scope__begin)
COROSCOPE_SEMAPHORE(scope__end)
COROSCOPE_SEMAPHORE(task__spawn)
COROSCOPE_SEMAPHORE(task__resume)
COROSCOPE_SEMAPHORE(task__suspend)
COROSCOPE_SEMAPHORE(task__finish)

namespace coroscope {
namespace {

using runtime::task_transition;

// The counter and the listener must change together: otherwise a start beside another object's stop
// could lose the listener.
constinit runtime::forked_mutex users_mutex{runtime::fork_rank::outer};
constinit int users = 0;

[[gnu::constructor]] void hold_users_over_forks() noexcept { runtime::join_forks(users_mutex); }

bool scopes_are_wanted() noexcept {
    return (coroscope_scope__begin_semaphore | coroscope_scope__end_semaphore) != 0;
}

void scope_begins(const scope_info& scope) noexcept {
    if (coroscope_scope__begin_semaphore != 0)
        STAP_PROBE4(coroscope, scope__begin, scope.name().data(), static_cast<int>(scope.kind()),
                    scope.thread_id(), scope.task());
}

void scope_ends(const scope_info& scope, observer_context*) noexcept {
    if (coroscope_scope__end_semaphore != 0)
        STAP_PROBE4(coroscope, scope__end, scope.name().data(), static_cast<int>(scope.kind()),
                    scope_info::current_thread_id(), scope.task());
}

const char* label_of(std::uint32_t site) noexcept {
    const runtime::known_site* known = site == 0 ? nullptr : runtime::find_site(site);
    return known == nullptr ? "" : known->label;
}

void task_changes(task_transition what, std::uint64_t task, std::uint64_t other,
                  std::uint32_t site) noexcept {
    switch (what) {
        case task_transition::spawn:
            if (coroscope_task__spawn_semaphore != 0)
                STAP_PROBE3(coroscope, task__spawn, task, other, label_of(site));
            break;
        case task_transition::resume:
            if (coroscope_task__resume_semaphore != 0) STAP_PROBE1(coroscope, task__resume, task);
            break;
        case task_transition::suspend:
            if (coroscope_task__suspend_semaphore != 0)
                STAP_PROBE2(coroscope, task__suspend, task, label_of(site));
            break;
        case task_transition::finish:
            if (coroscope_task__finish_semaphore != 0) STAP_PROBE1(coroscope, task__finish, task);
            break;
    }
}

observer make_usdt(const emit_options&) {
    observer made(scope_begins, scope_ends);
    observer_access::options(made).wanted = scopes_are_wanted;
    return made;
}

void switch_transitions(bool on, const emit_options&, observer_handle) noexcept {
    const std::lock_guard lock(users_mutex);
    const int before = std::exchange(users, on ? users + 1 : users - 1);
    if (on && before == 0) runtime::add_transition_listener(task_changes);
    if (!on && before == 1) runtime::remove_transition_listener(task_changes);
}

[[gnu::used]] constinit emit_usdt* for_good = nullptr;

[[gnu::constructor]] void start_from_environment() noexcept {
    if (runtime::is_switched_on(trace::variable::usdt)) for_good = new (std::nothrow) emit_usdt;
}

}  // namespace
}  // namespace coroscope

#else

#include "../../runtime/base/environment_words.hpp"
#include "../../runtime/base/fault_record.hpp"

namespace coroscope {
namespace {

constinit runtime::fault_record without_probes{
    "coroscope: COROSCOPE_USDT is 1, but Coroscope was built without USDT probes: install "
    "SystemTap's sys/sdt.h and build it with -Dusdt=enabled"};

[[gnu::constructor]] void look_at_environment() noexcept {
    if (runtime::is_switched_on(trace::variable::usdt)) without_probes.note();
}

}  // namespace
}  // namespace coroscope

#endif

namespace coroscope::detail {

const emitter_kind& usdt_emitter() noexcept {
    static constexpr emitter_kind kind{
#if COROSCOPE_HAS_USDT
        make_usdt,
#else
        nullptr,
#endif
        "Coroscope was built without USDT probes.",
        "The USDT probes are on already.",
        false,
#if COROSCOPE_HAS_USDT
        switch_transitions,
#else
        nullptr,
#endif
    };
    return kind;
}

}  // namespace coroscope::detail
