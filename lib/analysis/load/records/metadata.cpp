// SPDX-License-Identifier: Apache-2.0
#include "metadata.hpp"

#include "../../words/function_names.hpp"
#include "read_memory.hpp"

#include <algorithm>
#include <cstring>

#include <coroscope/trace/executor_format.hpp>
#include <coroscope/trace/fact_format.hpp>
#include <coroscope/trace/spawn_format.hpp>

namespace coroscope::analysis::inline records {

using coroscope::trace::chunk_kind;
using coroscope::trace::chunk_view;
using coroscope::trace::clock_point;
using coroscope::trace::record_kind;
using coroscope::trace::record_view;
using coroscope::trace::site_body;
using coroscope::trace::site_kind;
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

metadata::metadata(const coroscope::trace::reader& input, trace& loaded) : loaded_(loaded) {
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
        if (record.kind() == record_kind::fact) {
            read_object(record);
            read_executor(record);
            read_spawn_place(record);
            read_spawn_calls(record);
        }
    });
    link_executors();
    name_sites();
}

void metadata::read_string(const record_view& record) {
    const std::uint32_t number = string_ids_.insert(record.id());
    if (number == texts_.size()) texts_.push_back(payload_text(record));
}

std::string metadata::text(std::uint32_t id) const {
    const std::uint32_t number = string_ids_.find(id);
    return number == none ? std::string() : std::string(texts_[number]);
}

void metadata::read_site(const record_view& record) {
    if (sites_.find(record.id()) != none) return;
    site_body body;
    std::memcpy(&body, record.payload(), sizeof(body));
    site_info info{text(body.label), text(body.function), text(body.file),
                   body.line,        text(body.category), text(body.arguments),
                   body.kind,        body.column,         body.frame_bytes};
    // Each instance of a template has sites of its own for the same places in the source. Functions
    // have one name per instance, and a line may hold several of them (lambdas).
    const auto next = static_cast<std::uint32_t>(loaded_.sites.size());
    const bool is_function = body.kind == static_cast<std::uint8_t>(site_kind::function);
    const std::uint16_t column = is_function ? body.column : std::uint16_t{0};
    const auto [place, is_new] = places_.try_emplace(
        {info.label, info.file, info.line, column, info.category, info.kind}, next);
    if (is_new || info.file.empty()) {
        add_site(record.id(), std::move(info));
    } else {
        site_info& known = loaded_.sites[place->second];
        known.frame_bytes = std::max(known.frame_bytes, info.frame_bytes);
        sites_.alias(record.id(), place->second);
    }
}

void metadata::read_object(const record_view& record) {
    using coroscope::trace::object_body;
    using coroscope::trace::object_kind;
    const std::uint32_t id = record.id();
    if (coroscope::trace::fact_kind_of(id) != coroscope::trace::fact_kind::object) return;
    const std::string_view payload = payload_text(record);
    if (payload.size() < sizeof(object_body)) return;
    object_body body;
    std::memcpy(&body, payload.data(), sizeof body);
    object_info& info = loaded_.objects[object(body.number)];
    const std::uint32_t kind = coroscope::trace::fact_bits_of(id);
    info.kind = kind > static_cast<std::uint32_t>(object_kind::future)
                    ? object_kind::other
                    : static_cast<object_kind>(kind);
    info.name = payload.substr(sizeof body).substr(0, body.name_bytes);
    info.undescribed = false;
}

// Must be called after the description of the site was read, which comes first in a trace.
void metadata::read_spawn_place(const record_view& record) {
    using coroscope::trace::spawn_place_body;
    if (coroscope::trace::fact_kind_of(record.id()) != coroscope::trace::fact_kind::spawn_place)
        return;
    const std::string_view payload = payload_text(record);
    if (payload.size() < sizeof(spawn_place_body)) return;
    spawn_place_body body;
    std::memcpy(&body, payload.data(), sizeof body);
    analysis::spawn_place* const added = add_spawn_place(body.site);
    if (added == nullptr) return;
    added->inside = body.inside;
    added->caller = body.caller;
}

// The same holds here.
void metadata::read_spawn_calls(const record_view& record) {
    using coroscope::trace::spawn_calls_body;
    if (coroscope::trace::fact_kind_of(record.id()) != coroscope::trace::fact_kind::spawn_calls)
        return;
    const std::string_view payload = payload_text(record);
    if (payload.size() < sizeof(spawn_calls_body)) return;
    spawn_calls_body body;
    std::memcpy(&body, payload.data(), sizeof body);
    const std::string_view calls = payload.substr(sizeof body);
    if (body.count == 0 || body.count > calls.size() / sizeof(std::uint64_t)) return;
    analysis::spawn_place* const added = add_spawn_place(body.site);
    if (added == nullptr) return;
    added->calls.resize(body.count);
    std::memcpy(added->calls.data(), calls.data(), body.count * sizeof(std::uint64_t));
}

analysis::spawn_place* metadata::add_spawn_place(std::uint32_t site) {
    const auto next = static_cast<std::uint32_t>(loaded_.spawn_places.size());
    if (!spawn_places_.try_emplace(site, next).second) return nullptr;
    analysis::spawn_place& added = loaded_.spawn_places.emplace_back();
    added.site = sites_.find(site);
    return &added;
}

std::uint32_t metadata::object(std::uint32_t number) {
    const std::uint32_t index = objects_.insert(number);
    if (index == loaded_.objects.size())
        loaded_.objects.push_back({number, coroscope::trace::object_kind::other, "", true});
    return index;
}

std::uint32_t metadata::add_site(std::uint32_t id, site_info site) {
    const std::uint32_t number = sites_.insert(id);
    site_names_.push_back(none);
    loaded_.sites.push_back(std::move(site));
    return number;
}

void metadata::name_sites() {
    shorten_function_names(loaded_.sites);
    const std::vector<std::string> names = distinct_function_names(loaded_.sites);
    for (std::size_t at = 0; at < names.size(); ++at) {
        const site_info& site = loaded_.sites[at];
        const std::string& own = site.label.empty() ? site.function : site.label;
        site_names_[at] = intern(names[at].empty() ? own : names[at]);
    }
}

std::uint32_t metadata::unknown_site(std::uint32_t id) {
    ++unknown_sites_;
    site_info placeholder;
    placeholder.label = "unknown site " + std::to_string(id);
    const std::uint32_t number = add_site(id, std::move(placeholder));
    site_names_[number] = intern(loaded_.sites[number].label);
    return number;
}

void metadata::read_thread(const record_view& record) {
    if (threads_.find(record.id()) != none) return;
    thread_body body;
    std::memcpy(&body, record.payload(), sizeof(body));
    thread_info& info = loaded_.threads[thread(record.id())];
    info.os_id = body.os_thread_id;
    info.name.assign(body.name, strnlen(body.name, sizeof(body.name)));
    info.dropped_newest = body.dropped_newest;
    info.overwritten = body.overwritten;
    loaded_.health.cut_texts += body.truncated_payloads;
    loaded_.health.attributes_without_room += body.attributes_without_room;
    loaded_.health.places_without_room += body.places_without_room;
    waited_ticks_.back() = body.waited_ticks;
    joined_ticks_.back() = record.word(0);
    left_ticks_.back() = body.last_ticks;
    described_.back() = true;
}

std::uint32_t metadata::thread(std::uint32_t id) {
    const std::uint32_t number = threads_.insert(id);
    if (number == loaded_.threads.size()) {
        loaded_.threads.emplace_back().id = id;
        waited_ticks_.push_back(0);
        joined_ticks_.push_back(0);
        left_ticks_.push_back(0);
        described_.push_back(false);
    }
    return number;
}

void metadata::read_device(const record_view& record) {
    if (const std::uint64_t of = record.word(0); of != 0) {
        loaded_.device_streams.push_back(
            {static_cast<std::uint32_t>(of - 1), record.id(), std::string(payload_text(record))});
        return;
    }
    if (devices_.find(record.id()) != none) return;
    loaded_.devices[device(record.id())].name = payload_text(record);
    --unknown_devices_;
}

std::uint32_t metadata::device(std::uint32_t id) {
    const std::uint32_t number = devices_.insert(id);
    if (number == loaded_.devices.size()) {
        ++unknown_devices_;
        loaded_.devices.push_back({id, "device " + std::to_string(id)});
    }
    return number;
}

// The latest fact about a number is valid: the kind of a context may become known late.
void metadata::read_executor(const record_view& record) {
    using coroscope::trace::executor_body;
    executor_body body;
    const std::size_t bytes = std::min<std::size_t>(record.value(), record.payload_bytes());
    if (coroscope::trace::fact_kind_of(record.id()) != coroscope::trace::fact_kind::executor ||
        bytes < sizeof body)
        return;
    std::memcpy(&body, record.payload(), sizeof body);
    const std::uint32_t at = executor(body.number);
    if (at == none) return;
    executor_info& info = loaded_.executors[at];
    info.kind = body.kind;
    info.name.assign(reinterpret_cast<const char*>(record.payload()) + sizeof body,
                     std::min<std::size_t>(body.name_bytes, bytes - sizeof body));
    info.described = true;
    inner_numbers_[at] = body.inner;
}

std::uint32_t metadata::executor(std::uint32_t number) {
    if (number == 0) return none;
    const std::uint32_t at = executors_.insert(number);
    if (at == loaded_.executors.size()) {
        loaded_.executors.emplace_back().number = number;
        inner_numbers_.push_back(0);
    }
    return at;
}

void metadata::link_executors() {
    for (std::size_t at = 0; at < inner_numbers_.size(); ++at) {
        const std::uint32_t inner = executor(inner_numbers_[at]);
        loaded_.executors[at].inner = inner == at ? none : inner;
    }
}

std::uint32_t metadata::intern(std::string_view text) {
    const auto next = static_cast<std::uint32_t>(loaded_.strings.size());
    const auto [place, is_new] = interned_.try_emplace(std::string(text), next);
    if (is_new) loaded_.strings.emplace_back(text);
    return place->second;
}

}  // namespace coroscope::analysis::inline records
