// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/fold_tasks.hpp>

#include <array>

namespace coroscope::analysis {
namespace {

// If a program may have a namespace of the same name, the entry names the library's classes and
// functions instead.
constexpr std::array library_table{
    library_coroutines{"async_simple::*", "async_simple"},
    library_coroutines{"boost::cobalt::*", "Boost.Cobalt"},
    library_coroutines{"concurrencpp::*", "concurrencpp"},
    library_coroutines{"cppcoro::*", "cppcoro"},
    library_coroutines{"coro::detail::*", "libcoro"},
    library_coroutines{"coro::condition_variable::*", "libcoro"},
    library_coroutines{"coro::invoke*", "libcoro"},
    library_coroutines{"coro::mutex::*", "libcoro"},
    library_coroutines{"coro::net::*", "libcoro"},
    library_coroutines{"coro::queue<*", "libcoro"},
    library_coroutines{"coro::queue::*", "libcoro"},
    library_coroutines{"coro::ring_buffer<*", "libcoro"},
    library_coroutines{"coro::ring_buffer::*", "libcoro"},
    library_coroutines{"coro::scheduler::*", "libcoro"},
    library_coroutines{"coro::semaphore<*", "libcoro"},
    library_coroutines{"coro::semaphore::*", "libcoro"},
    library_coroutines{"coro::shared_mutex<*", "libcoro"},
    library_coroutines{"coro::shared_mutex::*", "libcoro"},
    library_coroutines{"coro::sync_wait*", "libcoro"},
    library_coroutines{"coro::task_group<*", "libcoro"},
    library_coroutines{"coro::task_group::*", "libcoro"},
    library_coroutines{"coro::thread_pool::*", "libcoro"},
    library_coroutines{"coro::when_all*", "libcoro"},
    library_coroutines{"coro::when_any*", "libcoro"},
    library_coroutines{"folly::coro::*", "folly::coro"},
    library_coroutines{"QCoro::*", "QCoro"},
    library_coroutines{"exec::__*", "stdexec"},
    library_coroutines{"std::__gen::*", "std::generator"},
    library_coroutines{"stdexec::*", "stdexec"},
    library_coroutines{"unifex::*", "libunifex"},
};

}  // namespace

std::span<const library_coroutines> known_library_coroutines() { return library_table; }

}  // namespace coroscope::analysis
