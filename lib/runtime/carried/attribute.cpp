// SPDX-License-Identifier: Apache-2.0

// The attributes of the public interface, and their records.

#include <coroscope/attribute.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <coroscope/detail/task_state.hpp>
#include <coroscope/modules.hpp>

#include "../base/text_writer.hpp"

#include "../writer/recorder.hpp"
#include "attribute.hpp"
#include "attribute_nodes.hpp"
#include "feature_data.hpp"

namespace coroscope::runtime::inline carried {
namespace {

using detail::carried_attributes;
using detail::carried_session;
using detail::make_carried;

void carry(std::uint32_t handle) noexcept {
    detail::rebind(make_carried(carried_session(this_thread.carried), handle));
    if (detail::is_recording()) record_attributes(task_of(this_thread.mark), handle);
}

void fill(attribute_node& node, const char* key, const char* value, std::size_t size) noexcept {
    const std::size_t key_size = std::strlen(key);
    const std::size_t kept_key = std::min(key_size, attribute_bytes);
    const std::size_t kept = std::min(size, attribute_bytes - kept_key);
    if (kept_key < key_size || kept < size) count_truncated();
    node.set_ticks = detail::load_gate() < 0 ? careful_now() : current_ticks();
    node.key_bytes = static_cast<std::uint8_t>(kept_key);
    node.value_bytes = static_cast<std::uint8_t>(kept);
    std::memcpy(node.text, key, kept_key);
    if (kept != 0) std::memcpy(node.text + kept_key, value, kept);
}

// If chunks are overwritten, each chunk must describe the attributes that it names. Otherwise one
// description per session is enough.
bool overwrites() noexcept { return (detail::load_gate() & detail::gate_task_table) != 0; }

// The word in which this thread notes that its chunk describes a node. The thread must have a
// chunk.
std::uint32_t& place_of_told(const attribute_node& node) noexcept {
    thread_record& record = *this_thread.record;
    told_attributes& told = record.told;
    if (const std::uint64_t chunk = record.current->chunk->number; told.chunk != chunk) {
        told = {};
        told.chunk = chunk;
    }
    return told.serials[node.serial % std::size(told.serials)];
}

bool is_told(const attribute_node& node) noexcept {
    if (overwrites()) return place_of_told(node) == node.serial;
    return node.announced.load(std::memory_order_relaxed) ==
           static_cast<std::uint16_t>(this_thread.bound_session);
}

void note_told(attribute_node& node) noexcept {
    if (overwrites())
        place_of_told(node) = node.serial;
    else
        node.announced.store(static_cast<std::uint16_t>(this_thread.bound_session),
                             std::memory_order_relaxed);
}

std::size_t text_bytes(const attribute_node& node) noexcept {
    return std::size_t{node.key_bytes} + node.value_bytes;
}

// Makes room in one chunk for all records that describe an attribute and its parents, unless the
// chunk has them already. In two chunks, one half of the description could be overwritten. Returns
// false if there is no chunk.
bool have_room_for(std::uint32_t handle) noexcept {
    bool all_told = true;
    std::size_t bytes = 2 * guaranteed_bytes;
    for (; handle != 0 && !is_unknown(handle);
         handle = topmost_attribute(attribute_at(handle).parent)) {
        const attribute_node& node = attribute_at(handle);
        all_told = all_told && is_told(node);
        bytes += trace::record_unit_bytes +
                 trace::padded_payload(sizeof(trace::attribute_body) + text_bytes(node));
    }
    constexpr std::size_t most = 2048;  // half of the smallest chunk
    return all_told || refill_bytes(this_thread, std::min(bytes, most)) != nullptr;
}

// Defines a node, and first its parents, in the session of this thread.
void define(attribute_node& node) noexcept {
    if (is_told(node)) return;
    std::uint32_t parent = 0;
    if (const std::uint32_t next = topmost_attribute(node.parent); is_unknown(next)) {
        parent = trace::attribute_unknown;
    } else if (next != 0) {
        attribute_node& below = attribute_at(next);
        define(below);
        parent = below.serial;
    }
    char payload[sizeof(trace::attribute_body) + attribute_bytes];
    const trace::attribute_body body{parent, node.key_bytes, node.value_bytes, 0};
    std::memcpy(payload, &body, sizeof body);
    std::memcpy(payload + sizeof body, node.text, text_bytes(node));
    if (write_text(node.set_ticks, record_kind::attribute, node.serial, payload,
                   sizeof body + text_bytes(node)))
        note_told(node);
}

const char* text_of(const char* key) noexcept { return key == nullptr ? "" : key; }

bool has_key(const attribute_node& node, const char* key, std::size_t size) noexcept {
    return node.key_bytes == size && std::memcmp(node.text, key, size) == 0;
}

}  // namespace

std::uint32_t announced_serial(std::uint32_t handle) noexcept {
    handle = topmost_attribute(handle);
    if (handle == 0 || reserve(0) == nullptr) return 0;
    if (is_unknown(handle)) return trace::attribute_unknown;
    if (overwrites() && !have_room_for(handle)) return 0;
    attribute_node& node = attribute_at(handle);
    define(node);
    return node.serial;
}

void record_attributes(std::uint64_t task, std::uint32_t handle) noexcept {
    const std::uint32_t serial = announced_serial(handle);
    const std::uint64_t ticks = now();
    if (char* at = reserve())
        write_record(at, ticks, make_tag(record_kind::carries, serial, 0), task, 0);
}

void repeat_what_is_carried() noexcept {
    const detail::task_state* frame = this_thread.frame;
    const std::uint64_t task = task_of(this_thread.mark);
    const bool own =
        frame == nullptr ? task == 0 && this_thread.invocation == nullptr : frame->task == task;
    if (own) record_attributes(task, carried_attributes(this_thread.carried));
}

}  // namespace coroscope::runtime::inline carried

namespace coroscope::detail {

using namespace runtime;

namespace {

// Takes over the caller's reference. Returns 0 if the context carries an unknown attribute already:
// the block that added it removes it.
std::uint32_t begin_unknown(std::uint32_t carried) noexcept {
    const std::uint32_t handle = with_unknown(carried);
    if (is_unknown(carried))
        release_attributes(carried);
    else
        carry(handle);
    count_attribute_without_room();
    return is_unknown(carried) ? 0 : handle;
}

}  // namespace

std::uint32_t begin_attribute(const char* key, const char* value, std::size_t size) noexcept {
    const std::uint32_t parent = retain_attributes(carried_attributes(this_thread.carried));
    const std::uint32_t handle = make_attribute(parent);
    if (handle == 0) return begin_unknown(parent);
    fill(attribute_at(handle), text_of(key), value, size);
    carry(handle);
    return handle;
}

std::uint32_t begin_module(const char* name, std::size_t size) noexcept {
    if (!begins_data_of(trace::feature_modules)) return 0;
    char path[2 * attribute_bytes];
    text_writer writer(path, sizeof path);
    const attribute_value outer = current_attribute(module_key);
    if (outer) writer.text(outer.data(), outer.size()).text(".");
    writer.text(name, size);
    return begin_attribute(module_key, path, writer.size());
}

// If the context carries another attribute, or has inherited this one, the block ends outside its
// own thread or task, because its frame was destroyed while it was suspended. The context then
// keeps what it carries.
void end_attribute(std::uint32_t handle) noexcept {
    if (carried_attributes(this_thread.carried) == handle && !is_inherited(handle))
        carry(carried_beneath(handle));
    release_attributes(handle);
}

}  // namespace coroscope::detail

namespace coroscope {

attribute_value current_attribute(const char* key) noexcept {
    attribute_value found;
    key = runtime::text_of(key);
    const std::size_t size = std::min(std::strlen(key), attribute_bytes);
    const std::uint32_t kept =
        runtime::retain_attributes(detail::carried_attributes(detail::this_thread.carried));
    for (std::uint32_t at = kept; at != 0 && !runtime::is_unknown(at);
         at = runtime::attribute_at(at).parent) {
        const runtime::attribute_node& node = runtime::attribute_at(at);
        if (!runtime::has_key(node, key, size)) continue;
        found.found_ = true;
        found.size_ = node.value_bytes;
        std::memcpy(found.text_, node.text + size, node.value_bytes);
        break;
    }
    runtime::release_attributes(kept);
    return found;
}

}  // namespace coroscope
