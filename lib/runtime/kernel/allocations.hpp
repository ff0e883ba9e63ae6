// SPDX-License-Identifier: Apache-2.0
#pragma once

// The watcher allocates and frees under a lock that a fork holds. Otherwise a program with one
// thread could not rely on its allocator in a forked child: AddressSanitizer's, for example, keeps
// a lock that another thread had at the fork.

#include "../base/forked_mutex.hpp"

namespace coroscope::runtime::inline kernel {

inline constinit forked_mutex allocations(fork_rank::leftovers);

}  // namespace coroscope::runtime::inline kernel
