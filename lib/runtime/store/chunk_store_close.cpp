// SPDX-License-Identifier: Apache-2.0

// The end of a chunk store: seals open chunks, cuts late writers off, hands the trace over.

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "../base/bounded_wait.hpp"
#include "../base/clock.hpp"
#include "../base/futex.hpp"
#include "chunk.hpp"
#include "chunk_store.hpp"
#include "chunk_store_state.hpp"

namespace coroscope::runtime::inline store {

using trace::chunk_header;
using trace::chunk_header_bytes;
using trace::chunk_kind;
using trace::file_header;
using trace::file_header_bytes;

namespace {

chunk_header& chunk_at(std::byte* trace, std::uint64_t index, std::uint32_t chunk_bytes) noexcept {
    return *reinterpret_cast<chunk_header*>(trace + file_header_bytes + index * chunk_bytes);
}

// Returns the number of chunks up to the last one that was ever opened.
std::uint64_t used_chunks(std::byte* trace, const store_parts& parts) noexcept {
    const std::uint32_t chunk_bytes = parts.settings.chunk_bytes;
    std::uint32_t used = parts.pool.published();
    while (used != 0 && !parts.sealer.sealed().has(used - 1) &&
           load_word(&chunk_at(trace, used - 1, chunk_bytes)) == free_chunk_word)
        --used;
    return used;
}

// Seals a chunk up to its first unwritten place. The record there is lost, and so is an unknown
// number of records after it.
void seal_as_written(file_header& header, chunk_header& chunk, std::uint32_t chunk_bytes) noexcept {
    if (seal(chunk, chunk_bytes)) return;
    add_to_counter(&header.lost_records, 1);
    chunk.used_bytes = 0;
    seal(chunk, chunk_bytes);
}

// Seals the chunks of a trace. No other thread may write to `trace`. Chunks that left the process
// are not touched: that would map them again.
void finish(std::byte* trace, std::uint64_t chunks, const store_parts& parts) noexcept {
    const std::uint32_t chunk_bytes = parts.settings.chunk_bytes;
    auto& header = *reinterpret_cast<file_header*>(trace);
    std::uint64_t in_use = parts.sealer.sealed().count();
    for (std::uint32_t index = 0; index < chunks; ++index) {
        if (parts.sealer.sealed().has(index)) continue;
        chunk_header& chunk = chunk_at(trace, index, chunk_bytes);
        const std::uint64_t word = load_word(&chunk);
        if (word == free_chunk_word) continue;
        ++in_use;
        if (state_of(word) != trace::chunk_state::sealed)
            seal_as_written(header, chunk, chunk_bytes);
    }
    header.chunk_count = chunks;
    header.chunks_in_use = in_use;
    header.last = take_clock_point();
    publish_word(&header.finished, 1);
}

// Marks the file as cut. After the helper's end only the stop can do that.
void tell_cut(store_parts& parts) noexcept {
    parts.cut_told.store(true, std::memory_order_release);  // pairs with write_error()
}

// A second mapping of the file. The SIGBUS handler knows it, so that the process survives if
// another process cuts the file.
class second_view {
public:
    explicit second_view(store_parts& parts) noexcept
        : map_(parts.map), watched_(parts.settings.watched), at_(map_.second_view()) {
        if (watched_ != nullptr) watched_->view.set(at_, map_.usable());
    }
    second_view(const second_view&) = delete;
    second_view& operator=(const second_view&) = delete;
    ~second_view() {
        if (watched_ != nullptr) watched_->view.clear();
        if (at_ != nullptr) map_.drop_view(at_);
    }

    /// Null if there was no address space for it.
    std::byte* at() const noexcept { return at_; }

private:
    mapping& map_;
    watched_file* watched_;
    std::byte* at_;
};

// Returns the size of the trace in the file, in bytes.
std::uint64_t finish_in(std::byte* trace, const store_parts& parts) noexcept {
    const std::uint64_t chunks = used_chunks(trace, parts);
    finish(trace, chunks, parts);
    return file_header_bytes + chunks * parts.settings.chunk_bytes;
}

// Finishes the trace's file. A file that another process cuts meanwhile is left as it is.
void finish_file(store_parts& parts) noexcept {
    mapping& map = parts.map;
    bool unreachable = false;
    std::uint64_t bytes = 0;
    {
        // Uses a second view, so that late writers can be cut off before the trace is sealed.
        // Without address space for a view, late writers can only invalidate the checksum of a
        // chunk with a thread record.
        const second_view view(parts);
        unreachable = view.at() != nullptr && map.cut_off();
        bytes = finish_in(view.at() != nullptr ? view.at() : map.base(), parts);
    }
    // Cut the file only if no thread can reach it any more: a write beyond its end would end the
    // process.
    if (!unreachable) unreachable = map.cut_off();
    if (parts.file_damage() == ESTALE)
        tell_cut(parts);
    else if (unreachable)
        map.truncate_file(bytes);
    map.close_file();
}

void copy_words(void* to, const void* from, std::size_t bytes) noexcept {
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
        const std::uint64_t word = load_counter(static_cast<const std::byte*>(from) + at);
        std::memcpy(static_cast<std::byte*>(to) + at, &word, sizeof(word));
    }
}

// Copies the written part of a chunk. Its thread may write behind that part meanwhile, and counters
// may change.
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

// The memory of copied parts is returned in steps, so that the trace is not in memory twice. Steps
// are large, so that few system calls are needed.
constexpr std::uint64_t discard_step_bytes = std::uint64_t{16} << 20;

// The wait is bounded, because close() may run in a signal handler that interrupted a visitor.
void await_visitors(const store_parts& parts) noexcept {
    // Sequentially consistent: pairs with store_visit.
    wait_bounded([&parts] { return parts.visitors.load(std::memory_order_seq_cst) == 0; });
}

trace::buffer copy_memory(const store_parts& parts) noexcept {
    const mapping& map = parts.map;
    const std::uint32_t chunk_bytes = parts.settings.chunk_bytes;
    const std::uint64_t chunks = used_chunks(map.base(), parts);
    const std::uint64_t bytes = file_header_bytes + chunks * chunk_bytes;
    auto* const copy = static_cast<std::byte*>(std::calloc(bytes, 1));  // zeros are not touched
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
        finish(copy, chunks, parts);
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
    if (!parts.map.has_file()) return copy_memory(parts);
    const int damage = parts.file_damage();
    // Access beyond the end of a file that was cut would end the process.
    if (parts.cut.load(std::memory_order_relaxed) || damage == ESTALE) {
        tell_cut(parts);
        if (parts.map.cut_off()) parts.map.close_file();
        return {};
    }
    parts.note_error(damage);
    finish_file(parts);
    return {};
}

void chunk_store::release_mapping() noexcept {
    if (state_ == nullptr) return;
    state_->parts.map.unmap();
    if (!state_->abandoned) delete state_;
    state_ = nullptr;
}

namespace {

// A list of the abandoned stores, so that a leak checker in the child finds them reachable.
constinit chunk_store* last_abandoned = nullptr;

}  // namespace

void chunk_store::abandon_after_fork() noexcept {
    if (state_ == nullptr) return;
    abandoned_before_ = std::exchange(last_abandoned, this);
    state_->parts.closing.store(true, std::memory_order_seq_cst);  // pairs with store_visit
    state_->abandoned = true;
    state_->parts.map.cut_off();
    state_->parts.map.close_file();
}

}  // namespace coroscope::runtime::inline store
