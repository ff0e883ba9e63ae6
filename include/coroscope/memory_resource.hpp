// SPDX-License-Identifier: Apache-2.0
#pragma once

// memory_resource: reports the allocations of a std::pmr resource.
//
//   coroscope::memory_resource reporting(std::pmr::new_delete_resource());
//   std::pmr::vector<int> values(&reporting);
//
// Thread-safety: that of the upstream resource. An allocation costs one atomic addition more, and
// so does its release.

#include <memory_resource>
#include <new>

#include <coroscope/detail/exceptions.hpp>
#include <coroscope/memory.hpp>

namespace coroscope {
inline namespace COROSCOPE_ABI {

/// A std::pmr resource that forwards to another one and reports its allocations; see above.
class memory_resource final : public std::pmr::memory_resource {
public:
    /// `upstream` must outlive this object.
    explicit memory_resource(
        std::pmr::memory_resource* upstream = std::pmr::get_default_resource()) noexcept
        : upstream_(upstream) {}

    std::pmr::memory_resource* upstream() const noexcept { return upstream_; }

    /// The bytes that are allocated and not released.
    std::int64_t allocated() const noexcept {
        return __atomic_load_n(&allocated_, __ATOMIC_RELAXED);
    }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* block = nullptr;
        COROSCOPE_DETAIL_TRY { block = upstream_->allocate(bytes, alignment); }
        COROSCOPE_DETAIL_CATCH(const std::bad_alloc&) {
            coroscope::report_out_of_memory(bytes, {allocated(), allocated()});
            COROSCOPE_DETAIL_RETHROW;
        }
        const std::int64_t total = add(static_cast<std::int64_t>(bytes));
        coroscope::report_allocation(block, bytes, {total, total});
        return block;
    }

    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        const std::int64_t total = add(-static_cast<std::int64_t>(bytes));
        coroscope::report_release(block, bytes, {total, total});
        upstream_->deallocate(block, bytes, alignment);
    }

    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::int64_t add(std::int64_t bytes) noexcept {
        return __atomic_add_fetch(&allocated_, bytes, __ATOMIC_RELAXED);
    }

    std::pmr::memory_resource* upstream_;
    std::int64_t allocated_ = 0;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
