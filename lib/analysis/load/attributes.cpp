// SPDX-License-Identifier: Apache-2.0
#include "attributes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace coroscope::analysis::loading {

using coroscope::trace::attribute_body;
using coroscope::trace::record_view;

namespace {

// From `time_ns` on `task` carries `attribute` on the thread whose list this is (or, in a task's list,
// anywhere). `holds` is false where a hand-installed context has ended.
struct stretch {
    std::int64_t time_ns = 0;
    std::uint32_t task = none;
    std::uint32_t attribute = none;
    bool holds = true;
    std::size_t place = 0;  // in a task's list: which came first, where times are equal
};
using history = std::vector<stretch>;

const stretch* in_force(const history& of, std::int64_t moment_ns) {
    const auto after = std::upper_bound(
        of.begin(), of.end(), moment_ns,
        [](std::int64_t moment, const stretch& each) { return moment < each.time_ns; });
    return after == of.begin() ? nullptr : &*std::prev(after);
}

class attribute_pass {
public:
    attribute_pass(const attribute_records& records, trace& loaded)
        : records_(records),
          loaded_(loaded),
          of_task_(loaded.tasks.size()),
          of_thread_(loaded.threads.size()),
          by_hand_(loaded.threads.size()),
          open_(loaded.threads.size()) {}

    void run() {
        define();
        for (const carry_op& op : records_.ops)
            if (op.thread < loaded_.threads.size()) take(op);
        for (history& each : of_task_)
            std::sort(each.begin(), each.end(), [](const stretch& left, const stretch& right) {
                return std::pair(left.time_ns, left.place) < std::pair(right.time_ns, right.place);
            });
        for (std::size_t task = 0; task < of_task_.size(); ++task)
            loaded_.tasks[task].attribute = first_of(of_task_[task]);
        for (event& each : loaded_.events) each.attribute = of(each);
        if (unknown_ != 0)
            loaded_.health.warnings.push_back(
                std::to_string(unknown_) +
                " attributes are named by records and not described in the trace");
    }

private:
    // A definition may stand in the trace more than once; a parent may stand behind its child.
    void define() {
        for (const attribute_definition& each : records_.definitions) {
            const auto number = static_cast<std::uint32_t>(loaded_.attributes.size());
            if (!numbers_.try_emplace(each.serial, number).second) continue;
            loaded_.attributes.push_back({each.key, each.value, none});
            parents_.push_back(each.parent);
            set_ns_.push_back(each.set_ns);
        }
        for (std::size_t number = 0; number < parents_.size(); ++number)
            loaded_.attributes[number].parent = number_of(parents_[number]);
    }

    std::uint32_t number_of(std::uint32_t serial) {
        if (serial == 0) return none;
        const auto found = numbers_.find(serial);
        if (found != numbers_.end()) return found->second;
        ++unknown_;
        numbers_.emplace(serial, none);
        return none;
    }

    void take(const carry_op& op) {
        const std::uint32_t attribute = number_of(op.serial);
        history& nested = open_[op.thread];
        const bool of_hand = !nested.empty() && nested.back().task == op.task;
        if (op.why == carry_op::cause::installed) {
            nested.push_back({op.time_ns, op.task, attribute});
        } else if (op.why == carry_op::cause::restored) {
            if (!nested.empty()) nested.pop_back();
        } else if (of_hand) {
            nested.back().attribute = attribute;
        } else {
            history& own = op.task < of_task_.size() ? of_task_[op.task] : of_thread_[op.thread];
            own.push_back({op.time_ns, op.task, attribute, true, own.size()});
            return;
        }
        stretch now = nested.empty() ? stretch{0, none, none, false} : nested.back();
        now.time_ns = op.time_ns;
        by_hand_[op.thread].push_back(now);
    }

    [[nodiscard]] std::uint32_t of(const event& each) const {
        if (each.thread < by_hand_.size()) {
            const stretch* found = in_force(by_hand_[each.thread], each.start_ns);
            if (found != nullptr && found->holds && found->task == each.task)
                return found->attribute;
        }
        if (each.task < of_task_.size()) return carried_in(of_task_[each.task], each.start_ns);
        if (each.thread < of_thread_.size())
            return carried_in(of_thread_[each.thread], each.start_ns);
        return none;
    }

    // Before the first thing that is known: what was set by then of what was carried there. What was said then has
    // been overwritten, and blocks nest.
    [[nodiscard]] std::uint32_t carried_in(const history& own, std::int64_t moment_ns) const {
        if (const stretch* found = in_force(own, moment_ns); found != nullptr)
            return found->attribute;
        std::uint32_t at = own.empty() ? none : own.front().attribute;
        for (std::size_t step = 0; at < set_ns_.size() && step < set_ns_.size(); ++step) {
            if (set_ns_[at] && *set_ns_[at] <= moment_ns) return at;
            at = loaded_.attributes[at].parent;
        }
        return none;
    }

    static std::uint32_t first_of(const history& own) {
        const auto found = std::find_if(own.begin(), own.end(),
                                        [](const stretch& each) { return each.attribute != none; });
        return found == own.end() ? none : found->attribute;
    }

    const attribute_records& records_;
    trace& loaded_;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // by serial
    std::vector<std::uint32_t> parents_;                        // serials
    std::vector<optional_ns> set_ns_;
    std::vector<history> of_task_;
    std::vector<history> of_thread_;  // outside tasks
    std::vector<history> by_hand_;    // by thread
    std::vector<history> open_;       // by thread: the installed contexts, the innermost last
    std::uint64_t unknown_ = 0;
};

}  // namespace

attribute_definition read_attribute(const record_view& record, symbols& names, clock_map& clock) {
    attribute_body body{};
    const std::size_t bytes = std::min<std::size_t>(record.value(), record.payload_bytes());
    if (bytes >= sizeof(body)) std::memcpy(&body, record.payload(), sizeof(body));
    const std::size_t text_bytes = bytes >= sizeof(body) ? bytes - sizeof(body) : 0;
    const std::string_view text(reinterpret_cast<const char*>(record.payload()) + sizeof(body),
                                text_bytes);
    const std::size_t key_bytes = std::min<std::size_t>(body.key_bytes, text.size());
    return {record.id(), body.parent, names.intern(text.substr(0, key_bytes)),
            names.intern(text.substr(key_bytes, body.value_bytes)),
            record.word(0) == 0 ? optional_ns() : clock.to_signed_ns(record.word(0))};
}

void attach_attributes(const attribute_records& records, trace& loaded) {
    if (!records.definitions.empty()) attribute_pass(records, loaded).run();
}

}  // namespace coroscope::analysis::loading

namespace coroscope::analysis {

std::uint32_t attribute_value(const trace& loaded, std::uint32_t attribute, std::string_view key) {
    // A chain longer than there are attributes runs in a circle.
    for (std::size_t step = 0;
         attribute < loaded.attributes.size() && step < loaded.attributes.size(); ++step) {
        const attribute_info& info = loaded.attributes[attribute];
        if (info.key < loaded.strings.size() && loaded.strings[info.key] == key) return info.value;
        attribute = info.parent;
    }
    return none;
}

}  // namespace coroscope::analysis
