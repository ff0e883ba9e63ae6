// SPDX-License-Identifier: Apache-2.0

// SystemTap's probe at both ends, without an attached tool. With one, each probe costs a trap into
// the kernel.

#include <sys/sdt.h>

#include "peer.hpp"

namespace bench {
namespace {

std::uint64_t two_probes(std::uint64_t operations) {
    return repeat(operations, [] {
        DTRACE_PROBE1(bench, scope_begin, 1);
        DTRACE_PROBE(bench, scope_end);
    });
}

}  // namespace

std::vector<row> rows() { return {inactive_peer("peer.usdt.inactive", two_probes)}; }

}  // namespace bench
