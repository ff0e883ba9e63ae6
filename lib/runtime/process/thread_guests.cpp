// SPDX-License-Identifier: Apache-2.0
#include "../writer/thread_guests.hpp"

#include "../carried/attribute.hpp"
#include "../devices/devices.hpp"
#include "../observers/observation_memory.hpp"
#include "../observers/observer_carrying.hpp"
#include "../scopes/open_scopes.hpp"
#include "../scopes/shapes.hpp"
#include "../tasks/completion.hpp"

namespace coroscope::runtime::inline process {
namespace {

constinit const thread_guest guests[] = {
    {.begin_chunk = repeat_what_is_carried},
    {.leave = drop_observer_cache, .look_at_context = look_for_carried_observers},
    {.follow = follow_current_task},
    {.resumes_at_exit = resumes_at_exit, .resumed_at_exit = resumed_at_exit},
    {.leave = drop_shape_room},
    {.leave = leave_open_pool, .after_fork = reset_open_pool},
};

}  // namespace
}  // namespace coroscope::runtime::inline process

std::span<const coroscope::runtime::thread_guest>
coroscope::runtime::writer::thread_guests() noexcept {
    return guests;
}
