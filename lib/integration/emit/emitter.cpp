// SPDX-License-Identifier: Apache-2.0
#include <coroscope/integration/emitter.hpp>

#include <utility>

#include "../../runtime/observers/observer_registry.hpp"
#include "../../runtime/sessions/session.hpp"

namespace coroscope {
namespace {

observer_handle enter(observer made, bool all_threads, const char*& message) noexcept {
    const observer_handle handle =
        all_threads ? add_global_observer(made) : add_thread_local_observer(made);
    message = handle == 0 ? made.message() : "";
    return handle;
}

}  // namespace

emitter::emitter(const detail::emitter_kind& kind, const emit_options& options) noexcept
    : kind_(kind), options_(options) {
    start();
}

void emitter::start() noexcept {
    if (!options_.enabled) return;
    if (active()) {
        message_ = kind_.entered_twice;
    } else if (kind_.make == nullptr) {
        message_ = kind_.absent;
    } else if (kind_.takes_place_of_session && runtime::is_enabled(detail::this_thread)) {
        message_ = runtime::already_enabled;
    } else {
        observer made = kind_.make(options_);
        observer_access::options(made).holds_profiler_slot = kind_.takes_place_of_session;
        handle_ = enter(std::move(made), options_.all_threads, message_);
        if (active() && kind_.switched != nullptr) kind_.switched(true, options_, handle_);
    }
}

void emitter::stop() noexcept {
    if (!active()) return;
    if (kind_.switched != nullptr) kind_.switched(false, options_, handle_);
    remove_observer(std::exchange(handle_, 0));
}

}  // namespace coroscope
