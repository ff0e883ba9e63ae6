// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stack of entries that each name a task. Finding the uppermost entry of a task takes logarithmic
// time at most, because stacks may be deep: each step of a recursion that resumes in place adds an
// entry.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace coroscope::analysis::inline tasks {

/// `Entry` has a member `task`, which must not change while the entry is on the stack.
template <class Entry>
class task_stack {
public:
    /// The result of a search that found no entry.
    static constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] Entry& operator[](std::size_t place) { return entries_[place]; }
    [[nodiscard]] const Entry& operator[](std::size_t place) const { return entries_[place]; }
    [[nodiscard]] Entry& back() { return entries_.back(); }
    [[nodiscard]] const Entry& back() const { return entries_.back(); }

    void push_back(const Entry& entry) {
        if (entries_.size() >= near) deep_.emplace(entry.task, entries_.size());
        entries_.push_back(entry);
    }

    void pop_back() {
        if (entries_.size() > near) deep_.erase({entries_.back().task, entries_.size() - 1});
        entries_.pop_back();
    }

    /// The place of the uppermost entry of `task`, or `nowhere`.
    [[nodiscard]] std::size_t find(std::uint32_t task) const {
        const std::size_t size = entries_.size();
        const std::size_t top = search(task, size > near ? size - near : 0, size);
        if (top != nowhere || size <= near) return top;
        const std::size_t deep = find_deep(task);
        return deep != nowhere ? deep : search(task, 0, near);
    }

private:
    // The number of entries at either end that are searched linearly. Few stacks are deeper.
    static constexpr std::size_t near = 32;

    [[nodiscard]] std::size_t search(std::uint32_t task, std::size_t begin, std::size_t end) const {
        for (std::size_t place = end; place > begin; --place)
            if (entries_[place - 1].task == task) return place - 1;
        return nowhere;
    }

    [[nodiscard]] std::size_t find_deep(std::uint32_t task) const {
        const auto after = deep_.upper_bound({task, nowhere});
        if (after == deep_.begin()) return nowhere;
        const auto& [found, place] = *std::prev(after);
        return found == task ? place : nowhere;
    }

    std::vector<Entry> entries_;
    std::set<std::pair<std::uint32_t, std::size_t>> deep_;  // entries from `near` on
};

}  // namespace coroscope::analysis::inline tasks
