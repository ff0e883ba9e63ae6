// SPDX-License-Identifier: Apache-2.0

// The rows of bench_hot.

#include "harness.hpp"

namespace bench {

std::vector<row> rows() {
    std::vector<row> all = scope_rows();
    for (const auto& more : {site_rows(), await_rows(), task_rows()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace bench
