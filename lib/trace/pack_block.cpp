// SPDX-License-Identifier: Apache-2.0
#include "pack_block.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <xxhash.h>

#include <coroscope/trace/reader.hpp>

#include "pack_times.hpp"

namespace coroscope::trace {
namespace {

constexpr std::size_t step_samples = 256;  // of each kind

// Returns the step of the clock, from samples of the block's times of each kind.
std::uint64_t step_of(const std::array<kind_columns, record_kinds>& kinds) {
    column samples;
    for (const kind_columns& kind : kinds) {
        const column& times = kind.words[0];
        const std::size_t apart = std::max<std::size_t>(times.size() / step_samples, 1);
        for (std::size_t at = 0; at < times.size(); at += apart) samples.push_back(times[at]);
    }
    return clock_step(samples);
}

}  // namespace

std::vector<std::uint32_t> by_id(const column& ids) {
    std::vector<std::uint32_t> order(ids.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&ids](std::uint32_t left, std::uint32_t right) {
        return ids[left] != ids[right] ? ids[left] < ids[right] : left < right;
    });
    return order;
}

chunk_header header_of(std::span<const unsigned char> chunk) {
    chunk_header header{};
    if (chunk.size() >= sizeof(header)) std::memcpy(&header, chunk.data(), sizeof(header));
    return header;
}

std::uint64_t due_checksum(std::span<const unsigned char> chunk) {
    const chunk_header header = header_of(chunk);
    if (header.state != chunk_state::sealed ||
        header.used_bytes > chunk.size() - chunk_header_bytes)
        return 0;
    return XXH3_64bits(chunk.data() + chunk_header_bytes, header.used_bytes);
}

void block_packer::add(std::span<const unsigned char> chunk) {
    std::size_t at = 0;
    std::uint64_t records = 0;
    if (chunk.size() >= chunk_header_bytes) {
        std::array<std::uint64_t, header_words> words;
        std::memcpy(words.data(), chunk.data(), chunk_header_bytes);
        words[checksum_word] ^= due_checksum(chunk);
        for (std::size_t word = 0; word < header_words; ++word)
            columns_.headers[word].push_back(zigzag(words[word] - last_header_[word]));
        last_header_ = words;
        const std::size_t kinds_before = columns_.kinds.size();
        at = chunk_header_bytes + add_records(chunk);
        records = columns_.kinds.size() - kinds_before;
    }
    const auto rest = chunk.subspan(at);
    const auto last =
        std::find_if(rest.rbegin(), rest.rend(), [](unsigned char each) { return each != 0; });
    columns_.records.push_back(records);
    columns_.rest_bytes.push_back(static_cast<std::uint64_t>(rest.rend() - last));
    columns_.rest.insert(columns_.rest.end(), rest.begin(), last.base());
}

/// Returns the bytes that records take, from the end of the chunk's header.
std::size_t block_packer::add_records(std::span<const unsigned char> chunk) {
    const chunk_header header = header_of(chunk);
    if (header.kind != chunk_kind::records && header.kind != chunk_kind::metadata) return 0;
    expected_.begin_chunk(header);
    const auto records = chunk.subspan(chunk_header_bytes);
    std::size_t at = 0;
    for (;;) {
        const record_view record = record_at(records.data() + at, records.size() - at);
        if (record.bytes == 0) return at;
        add_record(record.data);
        at += record.bytes;
    }
}

void block_packer::add_record(const unsigned char* data) {
    record_words words{};
    std::memcpy(words.data(), data, record_unit_bytes);
    const std::uint64_t tag = words[1];
    const record_kind kind = tag_kind(tag);
    const std::size_t columns = word_columns(kind);
    std::memcpy(words.data() + first_words, data + record_unit_bytes,
                columns * sizeof(std::uint64_t));
    kind_columns& to = columns_.of_kind[static_cast<std::size_t>(kind)];
    columns_.kinds.push_back(static_cast<unsigned char>(kind));
    to.ids.push_back(zigzag(tag_id(tag) - expected_.id_of(kind)));
    to.values.push_back(tag_value(tag));
    to.words[0].push_back(zigzag(words[0] - expected_.of(0, words)));
    for (std::size_t at = first_words; at < first_words + columns; ++at)
        to.words[at - 1].push_back(zigzag(words[at] - expected_.of(at, words)));
    expected_.learn(words);

    const unsigned char* payload = data + record_unit_bytes + columns * sizeof(std::uint64_t);
    const std::size_t bytes = payload_of(tag);
    if (kind != record_kind::device) {
        columns_.texts.insert(columns_.texts.end(), payload, payload + bytes);
        return;
    }
    for (std::size_t at = 0; at < bytes / sizeof(std::uint64_t); ++at) {
        std::uint64_t word;
        std::memcpy(&word, payload + at * sizeof(word), sizeof(word));
        columns_.devices.push_back(zigzag(word - last_device_[at % device_words]));
        last_device_[at % device_words] = word;
    }
}

void block_packer::write_kind(column_writer& to, record_kind kind, const kind_columns& columns,
                              std::uint64_t step) {
    to.numbers(columns.ids);
    write_times(to, columns.values, time_form::durations, kind == record_kind::scope ? step : 1);
    const std::vector<std::uint32_t> order = by_id(columns.ids);
    column arranged;
    for (std::size_t word = 0; word < columns.words.size(); ++word) {
        const column& words = columns.words[word];
        if (words.empty()) continue;
        arranged.clear();
        for (const std::uint32_t each : order) arranged.push_back(words[each]);
        const std::size_t position = word == 0 ? 0 : word + 1;
        write_times(to, arranged, time_form::differences, is_time(kind, position) ? step : 1);
    }
}

void block_packer::finish(column_writer& to) {
    for (const column& each : columns_.headers) to.numbers(each);
    to.numbers(columns_.records);
    to.numbers(columns_.rest_bytes);
    to.bytes(columns_.kinds.data(), columns_.kinds.size());
    const std::uint64_t step = step_of(columns_.of_kind);
    to.numbers({step});
    for (std::size_t kind = 0; kind < record_kinds; ++kind)
        write_kind(to, static_cast<record_kind>(kind), columns_.of_kind[kind], step);
    to.bytes(columns_.texts.data(), columns_.texts.size());
    to.numbers(columns_.devices);
    to.bytes(columns_.rest.data(), columns_.rest.size());
    *this = block_packer();
}

}  // namespace coroscope::trace
