// SPDX-License-Identifier: Apache-2.0

// Two tracepoints of LTTng-UST. Its session daemon, which bench/lttng_session.py starts, enables
// them: buffers per user, large enough that nothing is discarded, no contexts.

#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "lttng_provider.h"

#include "peer.hpp"

namespace bench {
namespace {

std::uint64_t two_tracepoints(std::uint64_t operations) {
    return repeat(operations, [] {
        lttng_ust_tracepoint(bench, scope_begin, 1);
        lttng_ust_tracepoint(bench, scope_end);
    });
}

}  // namespace

std::vector<row> rows() {
    return {
        inactive_peer("peer.lttng.inactive", two_tracepoints),
        recording_peer("peer.lttng.recording.1", two_tracepoints),
        recording_peer("peer.lttng.recording.2", two_tracepoints, 2),
    };
}

}  // namespace bench
