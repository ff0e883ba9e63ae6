// SPDX-License-Identifier: Apache-2.0
#pragma once

// Dense numbers for sparse ids: open addressing, so that a lookup on the loader's hot path costs a
// multiplication and usually one cache line.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline records {

class flat_index {
public:
    flat_index() : slots_(initial_slots) {}

    /// The number of `id`, or `none`.
    [[nodiscard]] std::uint32_t find(std::uint64_t id) const {
        for (std::size_t at = home(id);; at = (at + 1) & last_) {
            const slot& here = slots_[at];
            if (here.number == none || here.id == id) return here.number;
        }
    }

    /// The number of `id`; a new id gets the next one, counted from 0.
    std::uint32_t insert(std::uint64_t id) {
        const std::uint32_t known = find(id);
        if (known != none) return known;
        add(id, size_);
        return size_++;
    }

    /// Gives a new id a number that another id has already.
    void alias(std::uint64_t id, std::uint32_t number) {
        if (find(id) == none) add(id, number);
    }

    [[nodiscard]] std::uint32_t size() const { return size_; }

private:
    struct slot {
        std::uint64_t id = 0;
        std::uint32_t number = none;
    };
    static constexpr std::size_t initial_slots = 64;  // a power of two, as every later size

    // The product's high half mixes every bit of the id into the low bits that select a slot.
    [[nodiscard]] std::size_t home(std::uint64_t id) const {
        const std::uint64_t mixed = id * 0x9e37'79b9'7f4a'7c15U;
        return (mixed >> 32) & last_;
    }
    void add(std::uint64_t id, std::uint32_t number) {
        if (++used_ * 2 >= slots_.size()) grow();
        place(id, number);
    }
    void place(std::uint64_t id, std::uint32_t number) {
        std::size_t at = home(id);
        while (slots_[at].number != none) at = (at + 1) & last_;
        slots_[at] = slot{id, number};
    }
    void grow() {
        std::vector<slot> old(slots_.size() * 2);
        old.swap(slots_);
        last_ = slots_.size() - 1;
        for (const slot& kept : old)
            if (kept.number != none) place(kept.id, kept.number);
    }

    std::vector<slot> slots_;
    std::size_t last_ = initial_slots - 1;  // of the slots
    std::uint32_t size_ = 0;                // numbers given
    std::size_t used_ = 0;                  // slots in use
};

}  // namespace coroscope::analysis::inline records
