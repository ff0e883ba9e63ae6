// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of an open chunk store. The helper thread works on them.

#include "chunk_sealer.hpp"
#include "metadata_log.hpp"
#include "open_table.hpp"
#include "store_base.hpp"
#include "store_growth.hpp"
#include "task_table.hpp"

namespace coroscope::runtime::inline store {

struct store_parts : store_base {
    store_parts(const store_settings& given, std::uint32_t capacity) noexcept
        : store_base(given, capacity),
          sealer(*this),
          growth(*this, sealer),
          metadata(pool, growth),
          tasks(pool),
          open_scopes(pool, growth) {}

    chunk_sealer sealer;
    store_growth growth;
    metadata_log metadata;
    task_table tasks;
    open_table open_scopes;
};

}  // namespace coroscope::runtime::inline store
