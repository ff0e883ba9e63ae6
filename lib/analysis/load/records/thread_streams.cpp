// SPDX-License-Identifier: Apache-2.0
#include "thread_streams.hpp"

#include <cstddef>

#include "huge_pages.hpp"

namespace coroscope::analysis::inline records {

using coroscope::trace::chunk_view;

thread_stream& thread_streams::of_chunk(const chunk_view& chunk, std::uint32_t thread) {
    if (streams_.empty() || streams_.back().thread != thread) reserve_scopes(open(thread), chunk);
    return streams_.back();
}

std::uint32_t thread_streams::of_thread(std::uint32_t thread) {
    if (known_.size() <= thread) known_.resize(std::size_t{thread} + 1, none);
    std::uint32_t& known = known_[thread];
    for (std::uint32_t at = 0; known == none && at < streams_.size(); ++at)
        if (streams_[at].thread == thread) known = at;
    if (known == none) {
        known = static_cast<std::uint32_t>(streams_.size());
        open(thread);
    }
    return known;
}

thread_stream& thread_streams::open(std::uint32_t thread) {
    thread_stream& opened = streams_.emplace_back(thread, input_.header().chunk_bytes);
    opened.first_op = opened.end_op = static_cast<std::uint32_t>(ops_.size());
    return opened;
}

// Precondition: `first` is the thread's first chunk in the reader's list.
void thread_streams::reserve_scopes(thread_stream& stream, const chunk_view& first) const {
    if (positions_ == stack_positions::left_out) return;
    std::size_t bytes = 0;
    const chunk_view* const end = input_.chunks().data() + input_.chunks().size();
    for (const chunk_view* each = &first; each != end && each->header.thread == first.header.thread;
         ++each)
        if (each->header.kind == coroscope::trace::chunk_kind::records) bytes += each->bytes;
    stream.stack_scopes.reserve(bytes / coroscope::trace::record_unit_bytes);
    prefer_huge_pages(stream.stack_scopes.data(),
                      stream.stack_scopes.capacity() * sizeof(std::uint32_t));
}

}  // namespace coroscope::analysis::inline records
