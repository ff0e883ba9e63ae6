// SPDX-License-Identifier: Apache-2.0

// What bench_hot measures.

#include "harness.hpp"

namespace bench {

std::vector<row> rows() {
    std::vector<row> all = scope_rows();
    for (const auto& more : {await_rows(), task_rows()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace bench
