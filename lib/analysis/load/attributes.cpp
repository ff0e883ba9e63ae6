// SPDX-License-Identifier: Apache-2.0
#include "attributes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "task_records.hpp"

namespace coroscope::analysis::loading {

using coroscope::trace::attribute_body;
using coroscope::trace::record_kind;
using coroscope::trace::record_view;

namespace {

// From `time_ns` on a task, or a thread outside tasks, carries `attribute`.
struct stretch {
    std::int64_t time_ns = 0;
    std::uint32_t attribute = none;
    std::size_t place = 0;  // in its list: which came first, where times are equal
};
using history = std::vector<stretch>;

// From `time_ns` on a thread is in a context that was installed by hand, or runs a folded job; or in neither, where
// `holds` is false.
struct installed {
    std::int64_t time_ns = 0;
    std::uint32_t task = none;       // whose context it is, or the job
    std::uint32_t shown = none;      // the task that its scopes are said to be of
    std::uint32_t attribute = none;  // of a context; a job has a history
    bool job = false;
    bool holds = true;
};

template <class Timed>
const Timed* in_force(const std::vector<Timed>& of, std::int64_t moment_ns) {
    const auto after = std::upper_bound(
        of.begin(), of.end(), moment_ns,
        [](std::int64_t moment, const Timed& each) { return moment < each.time_ns; });
    return after == of.begin() ? nullptr : &*std::prev(after);
}

class attribute_pass {
public:
    // Folded jobs are numbered behind the tasks that are left.
    attribute_pass(const task_records& records, trace& loaded)
        : records_(records),
          loaded_(loaded),
          of_task_(std::max(loaded.tasks.size(), records.renumbered.size())),
          of_thread_(loaded.threads.size()),
          installed_(loaded.threads.size()),
          open_(loaded.threads.size()) {}

    void run() {
        define();
        std::size_t next = 0;
        for (const thread_stream& stream : records_.streams) next = read(stream, next);
        for (history& each : of_task_)
            std::sort(each.begin(), each.end(), [](const stretch& left, const stretch& right) {
                return std::pair(left.time_ns, left.place) < std::pair(right.time_ns, right.place);
            });
        for (std::size_t task = 0; task < loaded_.tasks.size(); ++task)
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
        for (const attribute_definition& each : records_.attributes.definitions) {
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

    // Takes the stream's changes, from `next` on, among its task records. Gives the first change of the next stream.
    std::size_t read(const thread_stream& stream, std::size_t next) {
        const std::vector<carry_op>& changes = records_.attributes.ops;
        std::uint32_t at = stream.first_op;
        for (; next < changes.size() && changes[next].thread == stream.thread; ++next) {
            for (; at < stream.end_op && records_.ops[at].position <= changes[next].position; ++at)
                follow_jobs(records_.ops[at]);
            take(changes[next]);
        }
        for (; at < stream.end_op; ++at) follow_jobs(records_.ops[at]);
        return next;
    }

    void take(const carry_op& op) {
        const std::uint32_t attribute = number_of(op.serial);
        std::vector<installed>& nested = open_[op.thread];
        const bool of_hand = !nested.empty() && !nested.back().job && nested.back().task == op.task;
        if (op.why == carry_op::cause::installed) {
            nested.push_back({op.time_ns, op.task, is_job(op.task) ? none : op.task, attribute});
        } else if (op.why == carry_op::cause::restored) {
            while (!nested.empty() && nested.back().job) nested.pop_back();
            if (!nested.empty()) nested.pop_back();
        } else if (of_hand) {
            nested.back().attribute = attribute;
        } else {
            history& own = op.task < of_task_.size() ? of_task_[op.task] : of_thread_[op.thread];
            own.push_back({op.time_ns, attribute, own.size()});
            return;
        }
        note(op.thread, op.time_ns);
    }

    [[nodiscard]] bool is_job(std::uint32_t task) const {
        return task != none && task >= records_.first_folded;
    }

    // Scopes of a job that is folded away are shown in what was there before it, and carry what the job does.
    void follow_jobs(const task_op& op) {
        switch (op.kind) {
            case record_kind::none: return_to(op, op.task); break;
            case record_kind::resume:
                return_to(op, op.other);
                if (is_job(op.task)) begin_job(op);
                break;
            case record_kind::suspend:
            case record_kind::finish:
                if (is_job(op.task)) end_job(op);
                return_to(op, op.other);
                break;
            default: break;
        }
    }

    void begin_job(const task_op& op) {
        std::vector<installed>& nested = open_[op.thread];
        std::uint32_t shown = op.other;
        if (is_job(shown)) shown = nested.empty() ? none : nested.back().shown;
        nested.push_back({op.time_ns, op.task, shown, none, true});
        note(op.thread, op.time_ns);
    }

    void end_job(const task_op& op) {
        std::vector<installed>& nested = open_[op.thread];
        constexpr std::size_t depth_limit = 4096;  // only a damaged stream nests deeper
        const auto looked_at = static_cast<std::ptrdiff_t>(std::min(nested.size(), depth_limit));
        const auto end = nested.rbegin() + looked_at;
        const auto begun = std::find_if(nested.rbegin(), end, [&op](const installed& each) {
            return each.job && each.task == op.task;
        });
        if (begun == end) return;
        nested.erase(std::prev(begun.base()), nested.end());
        note(op.thread, op.time_ns);
    }

    // The end of a job may be lost. A record that says that its thread was in no task, or in another job, tells of it.
    void return_to(const task_op& op, std::uint32_t task) {
        if (task != none && !is_job(task)) return;
        std::vector<installed>& nested = open_[op.thread];
        const std::size_t before = nested.size();
        while (!nested.empty() && nested.back().job && nested.back().task != task)
            nested.pop_back();
        if (nested.size() != before) note(op.thread, op.time_ns);
    }

    void note(std::uint32_t thread, std::int64_t time_ns) {
        const std::vector<installed>& nested = open_[thread];
        installed now = nested.empty() ? installed{} : nested.back();
        now.holds = !nested.empty();
        now.time_ns = time_ns;
        installed_[thread].push_back(now);
    }

    [[nodiscard]] std::uint32_t of(const event& each) const {
        if (each.thread < installed_.size()) {
            const installed* found = in_force(installed_[each.thread], each.start_ns);
            if (found != nullptr && found->holds && is_in(*found, each))
                return found->job ? carried_in(of_task_[found->task], each.start_ns)
                                  : found->attribute;
        }
        if (each.task < of_task_.size()) return carried_in(of_task_[each.task], each.start_ns);
        if (each.thread < of_thread_.size())
            return carried_in(of_thread_[each.thread], each.start_ns);
        return none;
    }

    // A range of a job that runs inside a task is said to be of no task: its mark names the job.
    [[nodiscard]] static bool is_in(const installed& holding, const event& each) {
        return each.task == holding.shown || (holding.job && each.task == none);
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

    const task_records& records_;
    trace& loaded_;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // by serial
    std::vector<std::uint32_t> parents_;                        // serials
    std::vector<optional_ns> set_ns_;
    std::vector<history> of_task_;                   // and of folded jobs
    std::vector<history> of_thread_;                 // outside tasks
    std::vector<std::vector<installed>> installed_;  // by thread
    std::vector<std::vector<installed>> open_;       // by thread: what holds, the innermost last
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

void attach_attributes(const task_records& records, trace& loaded) {
    if (!records.attributes.definitions.empty()) attribute_pass(records, loaded).run();
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
