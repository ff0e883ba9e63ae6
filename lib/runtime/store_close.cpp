// SPDX-License-Identifier: Apache-2.0

// The end of a chunk store: sealing what is open, cutting late writers off, handing the trace over.

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "bounded_wait.hpp"
#include "chunk.hpp"
#include "chunk_store.hpp"
#include "clock.hpp"
#include "futex.hpp"
#include "store_state.hpp"

namespace coroscope::runtime {

using trace::chunk_header;
using trace::chunk_header_bytes;
using trace::chunk_kind;
using trace::file_header;
using trace::file_header_bytes;

namespace {

chunk_header& chunk_at(std::byte* trace, std::uint64_t index, std::uint32_t chunk_bytes) noexcept {
    return *reinterpret_cast<chunk_header*>(trace + file_header_bytes + index * chunk_bytes);
}

// Chunks up to the last one that was ever opened.
std::uint64_t used_chunks(std::byte* trace, std::uint64_t published,
                          std::uint32_t chunk_bytes) noexcept {
    while (published != 0 &&
           load_word(&chunk_at(trace, published - 1, chunk_bytes)) == free_chunk_word)
        --published;
    return published;
}

// A record that is still not written is lost, and those behind it, how many nobody knows.
void seal_as_written(file_header& header, chunk_header& chunk, std::uint32_t chunk_bytes) noexcept {
    if (seal(chunk, chunk_bytes)) return;
    add_to_counter(&header.lost_records, 1);
    chunk.used_bytes = 0;
    seal(chunk, chunk_bytes);
}

// Nobody else may write to `trace`.
void finish(std::byte* trace, std::uint64_t chunks, std::uint32_t chunk_bytes) noexcept {
    auto& header = *reinterpret_cast<file_header*>(trace);
    for (std::uint64_t index = 0; index < chunks; ++index) {
        chunk_header& chunk = chunk_at(trace, index, chunk_bytes);
        const std::uint64_t word = load_word(&chunk);
        if (word != free_chunk_word && state_of(word) != trace::chunk_state::sealed)
            seal_as_written(header, chunk, chunk_bytes);
    }
    header.chunk_count = chunks;
    header.last = take_clock_point();
    publish_word(&header.finished, 1);
}

void finish_file(mapping& map, std::uint64_t published, std::uint32_t chunk_bytes) noexcept {
    // Through a second view, so that late writers can be cut off before the trace is sealed. Without
    // address space for one they only could spoil the checksum of a thread record's chunk.
    std::byte* const view = map.second_view();
    bool unreachable = view != nullptr && map.cut_off();
    std::byte* const trace = view != nullptr ? view : map.base();
    const std::uint64_t chunks = used_chunks(trace, published, chunk_bytes);
    finish(trace, chunks, chunk_bytes);
    if (view != nullptr) map.drop_view(view);
    // Cut only what no thread can reach any more: a write beyond the end would be its death.
    if (!unreachable) unreachable = map.cut_off();
    if (unreachable) map.truncate_file(file_header_bytes + chunks * chunk_bytes);
    map.close_file();
}

void copy_words(void* to, const void* from, std::size_t bytes) noexcept {
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
        const std::uint64_t word = load_counter(static_cast<const std::byte*>(from) + at);
        std::memcpy(static_cast<std::byte*>(to) + at, &word, sizeof(word));
    }
}

// Copies what is written of a chunk; its thread may go on behind that, and counters may change.
void copy_chunk(chunk_header& to, const chunk_header& from, std::uint32_t chunk_bytes) noexcept {
    if (load_word(&from) == free_chunk_word) return;
    const std::size_t bytes = chunk_header_bytes + measure(from, chunk_bytes).bytes;
    if (kind_of(load_word(&from)) == chunk_kind::records)
        std::memcpy(&to.number, &from.number, bytes - offsetof(chunk_header, number));
    else
        copy_words(&to.number, &from.number, bytes - offsetof(chunk_header, number));
    const std::uint64_t word = load_word(&from);
    std::memcpy(&to, &word, sizeof(word));
}

// A trace is not to be in memory twice while it is copied; steps are large, so that they are
// few system calls.
constexpr std::uint64_t discard_step_bytes = std::uint64_t{16} << 20;

// close() may run in a signal handler that interrupted a visitor.
void await_visitors(const store_parts& parts) noexcept {
    // Sequentially consistent: pairs with store_visit.
    wait_bounded([&parts] { return parts.visitors.load(std::memory_order_seq_cst) == 0; });
}

trace::buffer copy_memory(mapping& map, std::uint64_t published,
                          std::uint32_t chunk_bytes) noexcept {
    const std::uint64_t chunks = used_chunks(map.base(), published, chunk_bytes);
    const std::uint64_t bytes = file_header_bytes + chunks * chunk_bytes;
    auto* const copy = static_cast<std::byte*>(std::calloc(bytes, 1));  // zeros are never touched
    if (copy != nullptr) {
        copy_words(copy, map.base(), sizeof(file_header));
        std::uint64_t discarded = 0;
        for (std::uint64_t index = 0; index < chunks; ++index) {
            copy_chunk(chunk_at(copy, index, chunk_bytes), chunk_at(map.base(), index, chunk_bytes),
                       chunk_bytes);
            const std::uint64_t end = file_header_bytes + (index + 1) * chunk_bytes;
            if (end - discarded < discard_step_bytes) continue;
            map.discard(map.base() + discarded, end - discarded);
            discarded = end;
        }
        finish(copy, chunks, chunk_bytes);
    }
    map.discard(map.base(), map.reserved());
    return copy != nullptr ? trace::buffer::adopt(copy, bytes) : trace::buffer();
}

}  // namespace

trace::buffer chunk_store::close() noexcept {
    if (state_ == nullptr) return {};
    store_parts& parts = state_->parts;
    // Sequentially consistent: pairs with store_visit. A second close(), or one in a forked child,
    // finds nothing to do.
    if (parts.closing.exchange(true, std::memory_order_seq_cst)) return {};
    futex_signal(parts.chunks_changed);
    await_visitors(parts);
    state_->helper.stop();
    const std::uint32_t chunk_bytes = parts.settings.chunk_bytes;
    const std::uint64_t published = parts.pool.published();
    if (!parts.map.has_file()) return copy_memory(parts.map, published, chunk_bytes);
    const int damage = parts.map.file_damage();
    // A file that was cut would be our death where it is touched beyond its end.
    if (parts.cut.load(std::memory_order_relaxed) || damage == ESTALE) {
        if (parts.map.cut_off()) parts.map.close_file();
        return {};
    }
    parts.note_error(damage);
    finish_file(parts.map, published, chunk_bytes);
    return {};
}

void chunk_store::release_mapping() noexcept {
    if (state_ == nullptr) return;
    state_->parts.map.unmap();
    if (!state_->abandoned) delete state_;
    state_ = nullptr;
}

void chunk_store::abandon_after_fork() noexcept {
    if (state_ == nullptr) return;
    state_->parts.closing.store(true, std::memory_order_seq_cst);  // pairs with store_visit
    state_->abandoned = true;
    state_->parts.map.cut_off();
    state_->parts.map.close_file();
}

}  // namespace coroscope::runtime
