// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/memory_records.hpp>
#include <fmt/format.h>

#include "../model/bounded.hpp"
#include "../text/json_writer.hpp"
#include "file_sink.hpp"

namespace coroscope::analysis {
namespace {

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

/// One change of the memory in use.
struct memory_step {
    std::int64_t time_us;
    memory_action action;
    std::int64_t bytes;  ///< size of the allocation
    std::int64_t change;
    std::size_t category;
    std::size_t number;  ///< in the order of the records
};

class memory_history {
public:
    explicit memory_history(const event_list& events)
        : device_name_(events.use_device.empty() ? std::string_view("cuda") : events.use_device) {
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
        record.bytes = bounded(taken.bytes);
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

    // The file has a number for every category at every moment, so the number of categories is
    // bounded.
    static constexpr std::size_t most_categories = 256;
    static constexpr std::int32_t more_devices = -2;

    std::size_t category_of(const memory_record& record) {
        std::int32_t device =
            record.device == device_kind::cpu ? -1 : std::max(record.device_index, 0);
        if (categories.size() >= most_categories && !known_.contains(device)) device = more_devices;
        const auto [known, is_new] = known_.try_emplace(device, categories.size());
        if (is_new) categories.push_back(name_of_device(device));
        return known->second;
    }

    [[nodiscard]] std::string name_of_device(std::int32_t device) const {
        if (device == more_devices) return "more devices";
        return device < 0 ? std::string("cpu") : fmt::format("{}:{}", device_name_, device);
    }

    std::string_view device_name_;
    std::unordered_map<std::int32_t, std::size_t>
        known_;  // categories by device; -1: the processor
    std::map<std::pair<std::size_t, std::uint64_t>, std::int64_t> live_;  // bytes by address
    std::int64_t first_us_ = 0;
};

/// Returns whether a step is the last one at its time.
bool is_last(const std::vector<memory_step>& steps, std::size_t at) {
    return at + 1 == steps.size() || steps[at + 1].time_us != steps[at].time_us;
}

class timeline_writer {
public:
    timeline_writer(const memory_history& history, const byte_sink& sink)
        : history_(history), sink_(sink) {}

    written write() {
        json_.begin_array();
        write_times();
        write_sizes();
        json_.begin_array(json_writer::layout::compact);
        for (const std::string& each : history_.categories) json_.string(each);
        json_.end();
        write_steps();
        json_.end();
        if (taken_) return deliver(sink_, std::move(json_).take(), history_.steps.size());
        return failure{"could not be written"};
    }

private:
    /// The moments at which something changed.
    void write_times() {
        json_.begin_array(json_writer::layout::compact);
        for (std::size_t at = 0; at < history_.steps.size(); ++at)
            if (is_last(history_.steps, at)) json_.integer(history_.steps[at].time_us);
        json_.end();
    }

    /// Writes the memory in use after each step.
    void write_sizes() {
        std::vector<std::int64_t> sizes(history_.categories.size());
        json_.begin_array();
        for (std::size_t at = 0; at < history_.steps.size() && taken_; ++at) {
            const memory_step& step = history_.steps[at];
            add_to(sizes[step.category], step.change);
            if (!is_last(history_.steps, at)) continue;
            json_.begin_array(json_writer::layout::compact);
            for (const std::int64_t each : sizes) json_.integer(each);
            json_.end();
            hand_over_part();
        }
        json_.end();
    }

    void write_steps() {
        json_.begin_array();
        for (std::size_t at = 0; at < history_.steps.size() && taken_; ++at) {
            const memory_step& each = history_.steps[at];
            json_.begin_array(json_writer::layout::compact);
            json_.integer(each.time_us).string(name_of(each.action)).integer(each.bytes);
            json_.string(history_.categories[each.category]).end();
            hand_over_part();
        }
        json_.end();
    }

    void hand_over_part() {
        constexpr std::size_t part = std::size_t{1} << 16;
        if (json_.pending() >= part) taken_ = sink_(json_.take_part());
    }

    const memory_history& history_;
    const byte_sink& sink_;
    json_writer json_;
    bool taken_ = true;
};

}  // namespace

written export_memory_timeline(const event_list& events, const byte_sink& sink) {
    const memory_history history(events);
    return timeline_writer(history, sink).write();
}

written export_memory_timeline(const event_list& events, const std::string& path) {
    return to_file(path,
                   [&](const byte_sink& sink) { return export_memory_timeline(events, sink); });
}

}  // namespace coroscope::analysis
