// SPDX-License-Identifier: Apache-2.0

// Thread-local observers, and the switch that turns observers off, follow the work as attributes do: each change is a
// node on top of what the context carries, which no trace is told of. The topmost such node says it all.

#include <coroscope/observer.hpp>

#include <cstring>

#include <coroscope/detail/task_state.hpp>

#include "attribute_nodes.hpp"
#include "observer_registry.hpp"
#include "recorder.hpp"

namespace coroscope::runtime {
namespace {

using detail::carried_attributes;
using detail::carried_session;
using detail::make_carried;

static_assert(sizeof(carried_observers) <= attribute_bytes);

// Nodes that carry observers, of all contexts.
constinit std::atomic<std::uint64_t> carrying{0};

carried_observers read(const attribute_node& node) noexcept {
    carried_observers found;
    std::memcpy(static_cast<void*>(&found), node.text, sizeof found);
    return found;
}

void carry(std::uint32_t handle) noexcept {
    detail::rebind(make_carried(carried_session(this_thread.carried), handle));
}

}  // namespace

carried_observers observers_here() noexcept {
    if (!contexts_carry_observers()) return {};
    for (std::uint32_t at = carried_attributes(this_thread.carried); at != 0;
         at = attribute_at(at).parent) {
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
    node.key_bytes = observers_key;
    node.value_bytes = 0;
    std::memcpy(node.text, &next, sizeof next);
    carrying.fetch_add(1, std::memory_order_relaxed);
    carry(handle);
    return handle;
}

bool stop_carrying(std::uint32_t node) noexcept {
    if (carried_attributes(this_thread.carried) != node) return false;
    carry(carried_beneath(node));
    release_attributes(node);
    return true;
}

void forget_observers(const attribute_node& node) noexcept {
    release(read(node).list);
    carrying.fetch_sub(1, std::memory_order_relaxed);
}

bool contexts_carry_observers() noexcept { return carrying.load(std::memory_order_relaxed) != 0; }

void look_for_carried_observers() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with close_gates()
    if (has_observers(observers_here().list) && register_thread(this_thread) != nullptr)
        change_gate(this_thread, detail::gate_observed, 0);
}

}  // namespace coroscope::runtime

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
