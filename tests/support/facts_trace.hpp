// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace_builder.hpp"

namespace coroscope::test {

/// Returns a small trace with each kind of fact: of threads (with two chunks of the kernel's
/// facts), of tasks, of executors and of awaited objects. Two facts have kinds that no version of
/// the format defines.
trace_builder facts_trace();

}  // namespace coroscope::test
