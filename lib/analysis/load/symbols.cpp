// SPDX-License-Identifier: Apache-2.0
#include "symbols.hpp"

#include "memory_records.hpp"

#include <algorithm>
#include <cstring>

namespace coroscope::analysis::loading {

using coroscope::trace::chunk_kind;
using coroscope::trace::chunk_view;
using coroscope::trace::clock_point;
using coroscope::trace::record_kind;
using coroscope::trace::record_view;
using coroscope::trace::site_body;
using coroscope::trace::thread_body;

namespace {

template <class Visitor>
void for_each_metadata(const coroscope::trace::reader& input, Visitor&& visitor) {
    for (const chunk_view& chunk : input.chunks())
        if (chunk.header.kind == chunk_kind::metadata)
            coroscope::trace::for_each_record(chunk, visitor);
}

std::string_view payload_text(const record_view& record) {
    const std::size_t bytes = std::min<std::size_t>(record.value(), record.payload_bytes());
    return {reinterpret_cast<const char*>(record.payload()), bytes};
}

}  // namespace

symbols::symbols(const coroscope::trace::reader& input, trace& loaded) : loaded_(loaded) {
    for_each_metadata(input, [this](const record_view& record) {
        if (record.kind() == record_kind::string) read_string(record);
    });
    for_each_metadata(input, [this](const record_view& record) {
        if (record.kind() == record_kind::site) read_site(record);
        if (record.kind() == record_kind::thread) read_thread(record);
        if (record.kind() == record_kind::clock)
            clock_points_.push_back(clock_point{record.word(0),
                                                static_cast<std::int64_t>(record.word(2)),
                                                static_cast<std::int64_t>(record.word(3))});
        if (record.kind() == record_kind::device_name) read_device(record);
        if (record.kind() == record_kind::module) loaded_.modules.push_back(read_module(record));
    });
}

void symbols::read_string(const record_view& record) {
    const std::uint32_t number = string_ids_.insert(record.id());
    if (number == texts_.size()) texts_.push_back(payload_text(record));
}

std::string symbols::text(std::uint32_t id) const {
    const std::uint32_t number = string_ids_.find(id);
    return number == none ? std::string() : std::string(texts_[number]);
}

void symbols::read_site(const record_view& record) {
    if (sites_.find(record.id()) != none) return;
    site_body body;
    std::memcpy(&body, record.payload(), sizeof(body));
    site_info info{text(body.label),    text(body.function),  text(body.file), body.line,
                   text(body.category), text(body.arguments), body.kind};
    // Each instance of a template has sites of its own for the same places in the source.
    const auto next = static_cast<std::uint32_t>(loaded_.sites.size());
    const auto [place, is_new] =
        places_.try_emplace({info.label, info.file, info.line, info.category, info.kind}, next);
    if (is_new || info.file.empty()) {
        add_site(record.id(), std::move(info));
    } else {
        sites_.alias(record.id(), place->second);
    }
}

std::uint32_t symbols::add_site(std::uint32_t id, site_info site) {
    const std::uint32_t number = sites_.insert(id);
    site_names_.push_back(intern(site.label.empty() ? site.function : site.label));
    loaded_.sites.push_back(std::move(site));
    return number;
}

std::uint32_t symbols::unknown_site(std::uint32_t id) {
    ++unknown_sites_;
    site_info placeholder;
    placeholder.label = "unknown site " + std::to_string(id);
    return add_site(id, std::move(placeholder));
}

void symbols::read_thread(const record_view& record) {
    if (threads_.find(record.id()) != none) return;
    thread_body body;
    std::memcpy(&body, record.payload(), sizeof(body));
    thread_info& info = loaded_.threads[thread(record.id())];
    info.os_id = body.os_thread_id;
    info.name.assign(body.name, strnlen(body.name, sizeof(body.name)));
    info.dropped_newest = body.dropped_newest;
    info.overwritten = body.overwritten;
    loaded_.health.cut_texts += body.truncated_payloads;
    waited_ticks_.back() = body.waited_ticks;
    joined_ticks_.back() = record.word(0);
    described_.back() = true;
}

std::uint32_t symbols::thread(std::uint32_t id) {
    const std::uint32_t number = threads_.insert(id);
    if (number == loaded_.threads.size()) {
        loaded_.threads.emplace_back().id = id;
        waited_ticks_.push_back(0);
        joined_ticks_.push_back(0);
        described_.push_back(false);
    }
    return number;
}

void symbols::read_device(const record_view& record) {
    if (const std::uint64_t of = record.word(0); of != 0) {
        loaded_.device_streams.push_back(
            {static_cast<std::uint32_t>(of - 1), record.id(), std::string(payload_text(record))});
        return;
    }
    if (devices_.find(record.id()) != none) return;
    loaded_.devices[device(record.id())].name = payload_text(record);
    --unknown_devices_;
}

std::uint32_t symbols::device(std::uint32_t id) {
    const std::uint32_t number = devices_.insert(id);
    if (number == loaded_.devices.size()) {
        ++unknown_devices_;
        loaded_.devices.push_back({id, "device " + std::to_string(id)});
    }
    return number;
}

std::uint32_t symbols::intern(std::string_view text) {
    const auto next = static_cast<std::uint32_t>(loaded_.strings.size());
    const auto [place, is_new] = interned_.try_emplace(std::string(text), next);
    if (is_new) loaded_.strings.emplace_back(text);
    return place->second;
}

}  // namespace coroscope::analysis::loading
