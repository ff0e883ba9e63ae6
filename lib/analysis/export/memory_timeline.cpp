// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/memory_records.hpp>
#include <fmt/format.h>

#include "../events/saturated.hpp"
#include "../render/json_writer.hpp"
#include "file_sink.hpp"

namespace coroscope::analysis {
namespace {

using render::json_writer;

enum class memory_action : std::uint8_t { preexisting, create, increment_version, destroy };

std::string_view name_of(memory_action action) {
    switch (action) {
        case memory_action::preexisting: return "PREEXISTING";
        case memory_action::create: return "CREATE";
        case memory_action::increment_version: return "INCREMENT_VERSION";
        case memory_action::destroy: break;
    }
    return "DESTROY";
}

/// One change of what is in use.
struct memory_step {
    std::int64_t time_us;
    memory_action action;
    std::int64_t bytes;  ///< of the allocation
    std::int64_t change;
    std::size_t category;
    std::size_t number;  ///< in the order of the records
};

class memory_history {
public:
    explicit memory_history(const event_list& events) {
        const mem_records_acc records(events.memory);
        for (std::uint32_t at = 0; at < records.size(); ++at)
            if (!records[at].out_of_memory) take(records[at]);
        std::sort(steps.begin(), steps.end(),
                  [](const memory_step& left, const memory_step& right) {
                      return left.time_us != right.time_us ? left.time_us < right.time_us
                                                           : left.number < right.number;
                  });
    }

    std::vector<memory_step> steps;
    std::vector<std::string> categories;

private:
    static constexpr std::int64_t microsecond = 1000;

    void take(const memory_record& taken) {
        memory_record record = taken;
        record.bytes = events::bounded(taken.bytes);
        const std::size_t category = category_of(record);
        const std::int64_t time_us = record.time_ns / microsecond;
        if (steps.empty()) first_us_ = time_us;
        const std::pair key(category, record.address);
        const auto live = live_.find(key);
        if (record.bytes >= 0) {
            const bool again = live != live_.end();
            const std::int64_t before = again ? live->second : 0;
            steps.push_back({time_us,
                             again ? memory_action::increment_version : memory_action::create,
                             record.bytes, record.bytes - before, category, steps.size()});
            live_[key] = record.bytes;
            return;
        }
        if (live == live_.end())
            steps.push_back({first_us_, memory_action::preexisting, -record.bytes, -record.bytes,
                             category, steps.size()});
        else
            live_.erase(live);
        steps.push_back(
            {time_us, memory_action::destroy, -record.bytes, record.bytes, category, steps.size()});
    }

    std::size_t category_of(const memory_record& record) {
        const std::string name = record.device == device_kind::cpu
                                     ? std::string("cpu")
                                     : fmt::format("cuda:{}", std::max(record.device_index, 0));
        const auto found = std::find(categories.begin(), categories.end(), name);
        if (found != categories.end()) return static_cast<std::size_t>(found - categories.begin());
        categories.push_back(name);
        return categories.size() - 1;
    }

    std::map<std::pair<std::size_t, std::uint64_t>, std::int64_t> live_;  // bytes by address
    std::int64_t first_us_ = 0;
};

/// The moments at which something changed, and what was in use from then on.
void write_sizes(json_writer& json, const memory_history& history) {
    std::vector<std::int64_t> times;
    std::vector<std::vector<std::int64_t>> sizes;
    for (const memory_step& each : history.steps) {
        if (times.empty() || times.back() != each.time_us) {
            times.push_back(each.time_us);
            sizes.push_back(sizes.empty() ? std::vector<std::int64_t>(history.categories.size())
                                          : sizes.back());
        }
        events::add_to(sizes.back()[each.category], each.change);
    }
    json.begin_array(json_writer::layout::compact);
    for (const std::int64_t each : times) json.integer(each);
    json.end();
    json.begin_array();
    for (const auto& row : sizes) {
        json.begin_array(json_writer::layout::compact);
        for (const std::int64_t each : row) json.integer(each);
        json.end();
    }
    json.end();
}

void write_steps(json_writer& json, const memory_history& history) {
    json.begin_array();
    for (const memory_step& each : history.steps) {
        json.begin_array(json_writer::layout::compact);
        json.integer(each.time_us).string(name_of(each.action)).integer(each.bytes);
        json.string(history.categories[each.category]).end();
    }
    json.end();
}

}  // namespace

written export_memory_timeline(const event_list& events, const byte_sink& sink) {
    const memory_history history(events);
    json_writer json;
    json.begin_array();
    write_sizes(json, history);
    json.begin_array(json_writer::layout::compact);
    for (const std::string& each : history.categories) json.string(each);
    json.end();
    write_steps(json, history);
    json.end();
    return exporting::hand_over(sink, std::move(json).take(), history.steps.size());
}

written export_memory_timeline(const event_list& events, const std::string& path) {
    return exporting::to_file(
        path, [&](const byte_sink& sink) { return export_memory_timeline(events, sink); });
}

}  // namespace coroscope::analysis
