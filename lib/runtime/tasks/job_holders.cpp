// SPDX-License-Identifier: Apache-2.0

// The number of tickets of one job, for queues that copy it.

#include <coroscope/executor_adaptor.hpp>

#include <atomic>
#include <new>

#include "../base/own_memory.hpp"

namespace coroscope::detail {
namespace {

struct job_holder_count : runtime::own_memory {
    std::atomic<std::uint32_t> holders{1};
    std::atomic<bool> ran{false};
};

job_holder_count& count_of(job_holders holders) noexcept {
    return *reinterpret_cast<job_holder_count*>(holders);
}

// The only holder counts itself from here on. Of several that begin to, the first does.
void begin_count(job_holders& holders) noexcept {
    auto* made = new (std::nothrow) job_holder_count;
    job_holders expected = only_holder;
    const bool begun = __atomic_compare_exchange_n(
        &holders, &expected, made == nullptr ? no_holder : reinterpret_cast<job_holders>(made),
        false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);  // pairs with itself: the count is initialised
    if (!begun) delete made;
}

}  // namespace

job_holders share_job(job_holders& holders) noexcept {
    if (__atomic_load_n(&holders, __ATOMIC_ACQUIRE) == only_holder) begin_count(holders);
    const job_holders shared = __atomic_load_n(&holders, __ATOMIC_ACQUIRE);
    if (shared != no_holder) count_of(shared).holders.fetch_add(1, std::memory_order_relaxed);
    return shared;
}

bool leave_job(job_holders holders, bool runs) noexcept {
    job_holder_count& count = count_of(holders);
    if (runs) count.ran.store(true, std::memory_order_relaxed);
    // Pairs with itself: the last holder sees whether another one ran the job.
    if (count.holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    const bool ran = count.ran.load(std::memory_order_relaxed);
    delete &count;
    return !ran;
}

}  // namespace coroscope::detail
