// SPDX-License-Identifier: Apache-2.0
#pragma once

// The queue of free chunks, where order does not matter. Systems spell its header differently:
// Debian, upstream's installation, Meson's wrap.

#include <cstdint>

#if __has_include(<concurrentqueue/concurrentqueue.h>)
#include <concurrentqueue/concurrentqueue.h>
#elif __has_include(<concurrentqueue/moodycamel/concurrentqueue.h>)
#include <concurrentqueue/moodycamel/concurrentqueue.h>
#else
#include <concurrentqueue.h>
#endif

namespace coroscope::runtime {

/// Filled by one thread at a time through a token, so that no recording thread ever becomes a
/// producer: that would allocate.
using free_queue = moodycamel::ConcurrentQueue<std::uint32_t>;
using free_queue_producer = moodycamel::ProducerToken;

}  // namespace coroscope::runtime
