// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/detail/export.hpp>
#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

/// Stands in thread_state::frame while a task runs whose coroutine frames cannot be told apart (an
/// Asio handler): any scope in a frame then belongs to the running task.
extern task_state any_frame;

}  // namespace coroscope::detail
