// SPDX-License-Identifier: Apache-2.0
#include "unpack_block.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "pack_block.hpp"
#include "pack_times.hpp"

namespace coroscope::trace {
namespace {

/// Restores a block's chunks in two steps: first its columns, whose lengths follow from each other,
/// then the chunks from them. Either step ends at contents that do not fit.
class block_unpacker {
public:
    block_unpacker(column_reader& from, std::span<unsigned char> chunks, std::size_t chunk_bytes,
                   std::uint32_t version, std::vector<bool>& filled)
        : from_(from),
          chunks_(chunks),
          chunk_bytes_(chunk_bytes),
          version_(version),
          filled_(filled),
          expected_(version) {}

    bool read_columns();
    bool restore();

private:
    [[nodiscard]] std::size_t chunks() const {
        return (chunks_.size() + chunk_bytes_ - 1) / chunk_bytes_;
    }
    bool sum(const column& values, std::size_t& to) const;
    bool read_kinds(std::size_t records);
    bool read_step();
    bool read_kind(record_kind kind, kind_columns& to, std::size_t records);
    bool read_payloads();
    bool restore_header(std::span<unsigned char> chunk);
    bool restore_chunk(std::span<unsigned char> chunk);
    bool restore_record(std::span<unsigned char> room, std::size_t& used);
    void restore_payload(unsigned char* to, std::uint64_t tag);

    column_reader& from_;
    std::span<unsigned char> chunks_;
    std::size_t chunk_bytes_;
    std::uint32_t version_;
    std::vector<bool>& filled_;
    std::uint64_t step_ = 1;
    block_columns columns_;
    std::array<std::size_t, record_kinds> next_of_kind_{};
    std::size_t next_chunk_ = 0;
    std::size_t next_record_ = 0;
    std::size_t next_text_ = 0;
    std::size_t next_device_ = 0;
    std::size_t next_rest_ = 0;
    prediction expected_;
    std::array<std::uint64_t, header_words> last_header_{};
    std::array<std::uint64_t, device_words> last_device_{};
};

/// Returns false if the sum exceeds the room of the chunks.
bool block_unpacker::sum(const column& values, std::size_t& to) const {
    to = 0;
    for (const std::uint64_t each : values) {
        if (each > chunks_.size() - to) return false;
        to += static_cast<std::size_t>(each);
    }
    return true;
}

bool block_unpacker::read_columns() {
    const std::size_t cut = chunks_.size() % chunk_bytes_;
    const std::size_t headers = chunks() - (cut != 0 && cut < chunk_header_bytes ? 1 : 0);
    for (column& each : columns_.headers)
        if (!from_.numbers(each, headers)) return false;
    std::size_t records = 0;
    std::size_t rest = 0;
    return from_.numbers(columns_.records, chunks()) &&
           from_.numbers(columns_.rest_bytes, chunks()) && sum(columns_.records, records) &&
           sum(columns_.rest_bytes, rest) && records <= chunks_.size() / record_unit_bytes &&
           read_kinds(records) && read_payloads() && from_.bytes(columns_.rest, rest) &&
           from_.at_end();
}

bool block_unpacker::read_kinds(std::size_t records) {
    if (!from_.bytes(columns_.kinds, records) || !read_step()) return false;
    std::array<std::size_t, std::numeric_limits<unsigned char>::max() + 1> counts{};
    for (const unsigned char each : columns_.kinds) ++counts[each];
    std::size_t known = 0;
    for (std::size_t kind = 0; kind < record_kinds; ++kind) {
        const auto named = static_cast<record_kind>(kind);
        if (record_bytes(make_tag(named, 0, 0)) == 0) continue;
        known += counts[kind];
        if (!read_kind(named, columns_.of_kind[kind], counts[kind])) return false;
    }
    return known == records;
}

// Version 1 has no step.
bool block_unpacker::read_step() {
    if (version_ < 2) return true;
    column step;
    if (!from_.numbers(step, 1)) return false;
    step_ = step[0];
    return true;
}

bool block_unpacker::read_kind(record_kind kind, kind_columns& to, std::size_t records) {
    if (records == 0) return true;
    if (!from_.numbers(to.ids, records) ||
        !read_times(from_, to.values, records, time_form::durations,
                    kind == record_kind::scope ? step_ : 1))
        return false;
    const auto too_large = [](std::uint64_t each) { return each >= tag_value_limit; };
    if (std::any_of(to.values.begin(), to.values.end(), too_large)) return false;
    const std::vector<std::uint32_t> order = by_id(to.ids);
    column arranged;
    for (std::size_t word = 0; word <= word_columns(kind); ++word) {
        column& restored = to.words[word];
        const std::size_t position = word == 0 ? 0 : word + 1;
        if (!read_times(from_, arranged, records, time_form::differences,
                        is_time(kind, position) ? step_ : 1))
            return false;
        restored.resize(records);
        for (std::size_t at = 0; at < records; ++at) restored[order[at]] = arranged[at];
    }
    return true;
}

bool block_unpacker::read_payloads() {
    std::size_t texts = 0;
    std::size_t devices = 0;
    for (std::size_t kind = 0; kind < record_kinds; ++kind) {
        const auto named = static_cast<record_kind>(kind);
        std::size_t& total = named == record_kind::device ? devices : texts;
        for (const std::uint64_t value : columns_.of_kind[kind].values) {
            total += payload_of(make_tag(named, 0, value));
            if (total > chunks_.size()) return false;
        }
    }
    return from_.bytes(columns_.texts, texts) &&
           from_.numbers(columns_.devices, devices / sizeof(std::uint64_t));
}

bool block_unpacker::restore() {
    for (std::size_t at = 0; at < chunks_.size(); at += chunk_bytes_)
        if (!restore_chunk(chunks_.subspan(at, std::min(chunk_bytes_, chunks_.size() - at))))
            return false;
    return true;
}

bool block_unpacker::restore_chunk(std::span<unsigned char> chunk) {
    const std::uint64_t records = columns_.records[next_chunk_];
    const std::uint64_t rest = columns_.rest_bytes[next_chunk_];
    std::size_t at = 0;
    if (chunk.size() >= chunk_header_bytes) {
        std::array<std::uint64_t, header_words> words;
        for (std::size_t word = 0; word < header_words; ++word)
            words[word] = last_header_[word] + unzigzag(columns_.headers[word][next_chunk_]);
        last_header_ = words;
        // Zeros are not written, because that would allocate a page for an empty chunk.
        if (records == 0 && rest == 0 && words == decltype(words){}) {
            expected_.begin_chunk({});
            filled_.push_back(false);
            ++next_chunk_;
            return true;
        }
        std::memcpy(chunk.data(), words.data(), chunk_header_bytes);
        expected_.begin_chunk(header_of(chunk));
        at = chunk_header_bytes;
    } else if (records != 0) {
        return false;
    }
    filled_.push_back(true);
    ++next_chunk_;
    for (std::uint64_t record = 0; record < records; ++record) {
        std::size_t used = 0;
        if (!restore_record(chunk.subspan(at), used)) return false;
        at += used;
    }
    if (rest > chunk.size() - at) return false;
    if (rest != 0) std::memcpy(chunk.data() + at, columns_.rest.data() + next_rest_, rest);
    next_rest_ += rest;
    if (chunk.size() >= chunk_header_bytes) {
        const std::uint64_t checksum = last_header_[checksum_word] ^ due_checksum(chunk);
        std::memcpy(chunk.data() + offsetof(chunk_header, checksum), &checksum, sizeof(checksum));
    }
    return true;
}

bool block_unpacker::restore_record(std::span<unsigned char> room, std::size_t& used) {
    const auto kind = static_cast<record_kind>(columns_.kinds[next_record_++]);
    const kind_columns& from = columns_.of_kind[static_cast<std::size_t>(kind)];
    const std::size_t at = next_of_kind_[static_cast<std::size_t>(kind)]++;
    const std::uint64_t id = expected_.id_of(kind) + unzigzag(from.ids[at]);
    if (id > std::numeric_limits<std::uint32_t>::max()) return false;
    record_words words{};
    words[1] = make_tag(kind, static_cast<std::uint32_t>(id), from.values[at]);
    used = record_bytes(words[1]);
    if (used > room.size()) return false;
    const std::size_t columns = word_columns(kind);
    words[0] = expected_.of(0, words) + unzigzag(from.words[0][at]);
    for (std::size_t word = first_words; word < first_words + columns; ++word)
        words[word] = expected_.of(word, words) + unzigzag(from.words[word - 1][at]);
    expected_.learn(words);
    const std::size_t bytes = (first_words + columns) * sizeof(std::uint64_t);
    std::memcpy(room.data(), words.data(), bytes);
    restore_payload(room.data() + bytes, words[1]);
    return true;
}

void block_unpacker::restore_payload(unsigned char* to, std::uint64_t tag) {
    const std::size_t bytes = payload_of(tag);
    if (bytes == 0) return;
    if (tag_kind(tag) != record_kind::device) {
        std::memcpy(to, columns_.texts.data() + next_text_, bytes);
        next_text_ += bytes;
        return;
    }
    for (std::size_t at = 0; at < bytes / sizeof(std::uint64_t); ++at) {
        std::uint64_t& word = last_device_[at % device_words];
        word += unzigzag(columns_.devices[next_device_++]);
        std::memcpy(to + at * sizeof(word), &word, sizeof(word));
    }
}

}  // namespace

bool unpack_block(column_reader& from, std::span<unsigned char> chunks, std::size_t chunk_bytes,
                  std::uint32_t version, std::vector<bool>& filled) {
    block_unpacker unpacker(from, chunks, chunk_bytes, version, filled);
    return unpacker.read_columns() && unpacker.restore();
}

}  // namespace coroscope::trace
