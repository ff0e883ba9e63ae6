// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/event_list.hpp>

#include <stdexcept>

namespace coroscope::analysis {
namespace {

std::uint32_t next_index(std::size_t size) {
    if (size >= none) throw std::length_error("more of them than indices");
    return static_cast<std::uint32_t>(size);
}

}  // namespace

std::uint32_t event_list::lane(std::string_view process, std::string_view thread,
                               std::int64_t node_id) {
    const std::uint32_t process_text = intern(process);
    const std::uint32_t thread_text = intern(thread);
    const auto [place, is_new] =
        lanes_.try_emplace({process_text, thread_text, node_id}, next_index(threads.size()));
    if (is_new) {
        event_thread& added = threads.emplace_back();
        added.process = process_text;
        added.thread = thread_text;
        added.node_id = node_id;
    }
    return place->second;
}

event_extra& event_list::extra_of(event_row& row) {
    if (row.extra == none) {
        row.extra = next_index(extras.size());
        extras.emplace_back();
    }
    return extras[row.extra];
}

event_sums& event_list::sums_of(event_row& row) {
    if (row.sums == none) {
        row.sums = next_index(sums.size());
        sums.emplace_back();
    }
    return sums[row.sums];
}

}  // namespace coroscope::analysis
