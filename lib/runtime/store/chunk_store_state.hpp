// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of a chunk store while it is open: one allocation, which lives until release_mapping().

#include "../base/own_memory.hpp"
#include "chunk_store.hpp"
#include "store_helper.hpp"
#include "store_parts.hpp"

namespace coroscope::runtime::inline store {

struct chunk_store::state : own_memory {
    state(const chunk_store::settings& given, std::uint32_t capacity) noexcept
        : parts(given, capacity), helper(parts) {}

    store_parts parts;
    store_helper helper;
    bool abandoned = false;  ///< set in a forked child: the fork may have interrupted any change
};

}  // namespace coroscope::runtime::inline store
