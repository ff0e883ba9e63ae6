// SPDX-License-Identifier: Apache-2.0
#include "asio_operations.hpp"

#include <coroscope/integration/asio_kind.hpp>

namespace coroscope::asio {

constinit std::atomic<std::uint64_t> recent_operations::slots[256];

namespace {

[[gnu::noinline]] std::uint32_t look_up(const char* type, const char* operation,
                                        const void* location) noexcept {
    site* where = intern_operation(type, operation, location);
    const std::uint32_t found = where == nullptr ? 0 : site_id(*where);
    if (scheduler_seen.load(std::memory_order_relaxed))
        recent_operations::keep(type, operation, location, found);
    return found;
}

}  // namespace

std::uint32_t operation_site(const char* type, const char* operation,
                             const void* location) noexcept {
    std::uint32_t found = 0;
    if (recent_operations::find(type, operation, location, found)) [[likely]]
        return found;
    return look_up(type, operation, location);
}

operation_kind find_kind(const char* type, const char* operation) noexcept {
    return kind_of(type, operation);
}

}  // namespace coroscope::asio
