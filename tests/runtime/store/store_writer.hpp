// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes to a chunk store as a recording thread does, and finds its records again.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <coroscope/trace/reader.hpp>
#include <doctest/doctest.h>

#include "../../support/scratch_file.hpp"
#include "lib/runtime/store/chunk_store.hpp"

namespace coroscope::test {

inline constexpr std::uint32_t chunk_bytes = 4096;
inline constexpr std::uint32_t records_per_chunk =
    (chunk_bytes - trace::chunk_header_bytes) / trace::record_unit_bytes;

inline runtime::chunk_store::settings store_of(std::uint32_t chunks, trace::overflow_policy policy,
                                               const char* path = nullptr) {
    return {path, trace::file_header_bytes + std::uint64_t{chunks} * chunk_bytes, chunk_bytes,
            policy, false};
}

/// A recording thread: numbers its records from 0, hands a chunk over when it is full, and counts
/// the dropped records.
class store_writer {
public:
    store_writer(runtime::chunk_store& store, std::uint32_t thread)
        : store_(store), thread_(thread), body_(store.append_thread(1, thread, {})) {}

    /// Returns false if there was no chunk.
    bool write() {
        if (cursor_ == limit_ && !next_chunk()) return false;
        auto* const words = reinterpret_cast<std::uint64_t*>(cursor_);
        words[0] = written_;
        __atomic_store_n(&words[1], trace::make_tag(trace::record_kind::scope, thread_, 1),
                         __ATOMIC_RELEASE);
        cursor_ += trace::record_unit_bytes;
        ++written_;
        return true;
    }
    void write(std::uint64_t records) {
        for (std::uint64_t i = 0; i < records; ++i)
            if (!write()) ++dropped_;
    }

    /// Takes a chunk before there is a record.
    bool hold() { return next_chunk(); }

    void hand_over() {
        if (chunk_ != nullptr) store_.hand_over(chunk_);
        chunk_ = nullptr;
        cursor_ = limit_ = nullptr;
    }

    /// Ends the thread.
    void leave() {
        store_.leave({chunk_, begin_}, cursor_);
        chunk_ = nullptr;
        cursor_ = limit_ = nullptr;
    }

    /// Leaves the place of one record unwritten.
    void skip_place() { cursor_ += trace::record_unit_bytes; }

    /// Never gives the chunk back, so that the next record needs another one.
    void keep_chunk() {
        chunk_ = nullptr;
        cursor_ = limit_ = nullptr;
    }

    std::uint64_t written() const { return written_; }
    std::uint64_t dropped() const { return dropped_; }
    trace::chunk_header* chunk() const { return chunk_; }
    trace::thread_body* body() const { return body_; }

private:
    bool next_chunk() {
        hand_over();
        runtime::chunk_store::section room;
        if (!had_chunk_) room = store_.take_rest(thread_, body_, 0, written_);
        if (room.chunk == nullptr) {
            room.chunk = store_.acquire(thread_, body_, 0, written_);
            if (room.chunk == nullptr) return false;
            room.begin = reinterpret_cast<char*>(room.chunk) + trace::chunk_header_bytes;
        }
        had_chunk_ = true;
        chunk_ = room.chunk;
        begin_ = cursor_ = room.begin;
        limit_ = reinterpret_cast<char*>(chunk_) + chunk_bytes;
        return true;
    }

    runtime::chunk_store& store_;
    std::uint32_t thread_;
    trace::thread_body* body_;
    trace::chunk_header* chunk_ = nullptr;
    bool had_chunk_ = false;
    char* begin_ = nullptr;
    char* cursor_ = nullptr;
    char* limit_ = nullptr;
    std::uint64_t written_ = 0;
    std::uint64_t dropped_ = 0;
};

/// The records of one thread in a trace.
struct found_thread {
    std::vector<std::uint64_t> records;  ///< the numbers of the records, in the trace's order
    std::uint64_t overwritten = 0;
};

/// Checks that the trace is complete (every checksum, every record) and sorts its records by
/// thread.
inline std::map<std::uint32_t, found_thread> find_records(const trace::reader& read) {
    for (const std::string& warning : read.warnings()) FAIL_CHECK(warning);
    std::map<std::uint32_t, found_thread> threads;
    for (const trace::chunk_view& chunk : read.chunks()) {
        if (chunk.header.kind == trace::chunk_kind::tasks) continue;
        trace::for_each_record(chunk, [&](const trace::record_view& record) {
            if (record.kind() == trace::record_kind::scope)
                threads[chunk.header.thread].records.push_back(record.word(0));
            else if (record.kind() == trace::record_kind::thread)
                threads[record.id()].overwritten = record.word(4);
        });
    }
    return threads;
}

}  // namespace coroscope::test
