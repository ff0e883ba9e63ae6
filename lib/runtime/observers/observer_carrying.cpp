// SPDX-License-Identifier: Apache-2.0
#include "observer_carrying.hpp"

#include <cstring>

#include <coroscope/detail/task_state.hpp>
#include <coroscope/observer.hpp>

#include "../base/forks.hpp"
#include "../carried/attribute_nodes.hpp"
#include "../writer/recorder.hpp"

namespace coroscope::runtime::inline observers {
namespace {

using detail::carried_attributes;
using detail::carried_session;
using detail::make_carried;

static_assert(sizeof(observers_head) + sizeof(carried_observers) <= attribute_bytes);

carried_observers read(const attribute_node& node) noexcept {
    carried_observers found;
    std::memcpy(static_cast<void*>(&found), node.text + sizeof(observers_head), sizeof found);
    return found;
}

void forget(const attribute_node& node) noexcept { release(read(node).list); }

void carry(std::uint32_t handle) noexcept {
    detail::rebind(make_carried(carried_session(this_thread.carried), handle));
}

}  // namespace

carried_observers observers_here() noexcept {
    if (!contexts_carry_observers()) return {};
    for (std::uint32_t at = below_unknown(carried_attributes(this_thread.carried)); at != 0;
         at = below_unknown(attribute_at(at).parent)) {
        const attribute_node& node = attribute_at(at);
        if (carries_observers(node)) return read(node);
    }
    return {};
}

std::uint32_t carry_observers(const carried_observers& next) noexcept {
    const std::uint32_t parent = retain_attributes(carried_attributes(this_thread.carried));
    const std::uint32_t handle = make_attribute(parent);
    if (handle == 0) {
        release_attributes(parent);
        return 0;
    }
    attribute_node& node = attribute_at(handle);
    give_observers(node, {forget});
    std::memcpy(node.text + sizeof(observers_head), &next, sizeof next);
    carry(handle);
    return handle;
}

bool stop_carrying(std::uint32_t node) noexcept {
    if (carried_attributes(this_thread.carried) != node) return false;
    carry(carried_beneath(node));
    release_attributes(node);
    return true;
}

void look_for_carried_observers() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with close_gates()
    if (has_observers(observers_here().list) && register_thread(this_thread) != nullptr)
        change_gate(this_thread, detail::gate_observed, 0);
}

namespace {

// After a fork the gate of the child's thread is reset. This handler then opens the gate again if
// the thread carries observers.
constinit fork_guest around_forks{.rank = fork_rank::observers,
                                  .in_child = look_for_carried_observers};
[[gnu::constructor(101)]] void join() noexcept { join_forks(around_forks); }

}  // namespace
}  // namespace coroscope::runtime::inline observers

namespace coroscope {

using namespace runtime;

bool observers_enabled() noexcept { return observers_here().enabled; }

observers_guard::observers_guard(bool enabled) noexcept {
    const carried_observers next{retain(observers_here().list), enabled};
    carried_ = carry_observers(next);
    if (carried_ == 0) release(next.list);
}

observers_guard::~observers_guard() {
    if (carried_ == 0) return;
    if (is_inherited(carried_) || !stop_carrying(carried_)) detail::release_attributes(carried_);
}

}  // namespace coroscope
