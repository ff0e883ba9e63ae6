// SPDX-License-Identifier: Apache-2.0
#include "feature_data.hpp"

#include "../writer/registry.hpp"

namespace coroscope::runtime::inline carried {

void limit_without_data(session& owner, std::uint64_t kept) noexcept {
    owner.without_data.fetch_and(kept, std::memory_order_relaxed);
    __atomic_fetch_and(&owner.store->header().without_data, kept, __ATOMIC_RELAXED);
}

bool begins_data_of(std::uint64_t features) noexcept {
    const session* const owner = effective_session(detail::this_thread);
    if (owner == nullptr || (owner->features.load(std::memory_order_relaxed) & features) == 0)
        return false;
    if ((owner->without_data.load(std::memory_order_relaxed) & features) == 0) return true;
    if (thread_record* const record = register_thread(detail::this_thread); record != nullptr) {
        const store_use use(*record, owner->generation.load(std::memory_order_relaxed));
        if (use.owner() != nullptr) limit_without_data(*use.owner(), ~features);
    }
    return true;
}

}  // namespace coroscope::runtime::inline carried
