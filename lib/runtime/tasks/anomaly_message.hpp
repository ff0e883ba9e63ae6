// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroscope/anomaly.hpp>

#include "../base/text_writer.hpp"

namespace coroscope::runtime::inline tasks {

/// What a failure looks like on stderr: the task, what failed, and the tasks that led to it.
void write_message(text_writer& to, const anomaly& found) noexcept;

}  // namespace coroscope::runtime::inline tasks
