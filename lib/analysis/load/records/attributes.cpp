// SPDX-License-Identifier: Apache-2.0
#include "attributes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace coroscope::analysis::inline records {

using coroscope::trace::record_kind;

namespace {

// From `time_ns` on a task, or a thread outside tasks, carries `attribute`.
struct stretch {
    std::int64_t time_ns = 0;
    std::uint32_t attribute = none;
    std::size_t place = 0;  // index in its list; orders entries of equal time
};
using history = std::vector<stretch>;

// From `time_ns` on a thread is in a context that was installed by hand, or runs a folded job. If
// `holds` is false, it left both.
struct installed {
    std::int64_t time_ns = 0;
    std::uint32_t task = none;       // the owner of the context, or the job
    std::uint32_t shown = none;      // the task to which its scopes are attributed
    std::uint32_t attribute = none;  // only of a context: a job has a history
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
    // Folded jobs have the numbers after those of the remaining tasks.
    attribute_pass(const task_records& records, metadata& names, trace& loaded)
        : records_(records),
          names_(names),
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
        loaded_.tasks.update([this](task_info& info, std::size_t task) {
            info.attribute = first_of(of_task_[task]);
            return info.attribute != none;
        });
        for (event& each : loaded_.events) each.attribute = of(each);
        if (unknown_number_ != none && loaded_.health.attributes_without_room == 0)
            loaded_.health.attributes_without_room = 1;  // before the session, or on a lost thread
        if (unknown_ != 0)
            loaded_.health.warnings.push_back(
                std::to_string(unknown_) +
                " attributes are named by records and not described in the trace");
    }

private:
    // The trace may have a definition more than once, and a parent after its child.
    void define() {
        for (const attribute_definition& each : records_.attributes.definitions) {
            const auto number = static_cast<std::uint32_t>(loaded_.attributes.size());
            if (!numbers_.try_emplace(each.serial, number).second) continue;
            loaded_.attributes.push_back({each.key, each.value, none});
            parents_.push_back(each.parent);
            set_ns_.push_back(each.set_ns);
        }
        for (std::size_t number = 0; number < parents_.size(); ++number) {
            const std::uint32_t parent = number_of(parents_[number]);
            loaded_.attributes[number].parent = parent;
        }
    }

    std::uint32_t number_of(std::uint32_t serial) {
        if (serial == 0) return none;
        if (serial == coroscope::trace::attribute_unknown) return unknown_attribute();
        const auto found = numbers_.find(serial);
        if (found != numbers_.end()) return found->second;
        ++unknown_;
        numbers_.emplace(serial, none);
        return none;
    }

    // It represents all attributes that had no room.
    std::uint32_t unknown_attribute() {
        if (unknown_number_ != none) return unknown_number_;
        unknown_number_ = static_cast<std::uint32_t>(loaded_.attributes.size());
        loaded_.attributes.push_back({none, names_.intern("(unknown)"), none, true});
        set_ns_.emplace_back();
        return unknown_number_;
    }

    // Takes the stream's changes, from `next` on, among its task records. Gives the first change of
    // the next stream.
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

    // Scopes of a job that is folded away are shown in the context before it, and carry the job's
    // attributes.
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

    // The end of a job may be lost. A record whose thread is in no task, or in another job, implies
    // it.
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

    // A range of a job that runs inside a task has no task, because its mark names the job.
    [[nodiscard]] static bool is_in(const installed& holding, const event& each) {
        return each.task == holding.shown || (holding.job && each.task == none);
    }

    // Before the first known change, whose records were overwritten, the result is derived from the
    // first record: of the attributes that it carries, those that were set by `moment_ns` were
    // carried then, because blocks nest.
    [[nodiscard]] std::uint32_t carried_in(const history& own, std::int64_t moment_ns) const {
        if (const stretch* found = in_force(own, moment_ns); found != nullptr)
            return found->attribute;
        std::uint32_t at = own.empty() ? none : own.front().attribute;
        for (std::size_t step = 0; at < set_ns_.size() && step < set_ns_.size(); ++step) {
            if (loaded_.attributes[at].unknown) return at;
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
    metadata& names_;
    trace& loaded_;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // by serial
    std::vector<std::uint32_t> parents_;                        // serials
    std::vector<optional_ns> set_ns_;
    std::vector<history> of_task_;                   // by task, and by folded job
    std::vector<history> of_thread_;                 // outside tasks
    std::vector<std::vector<installed>> installed_;  // by thread
    std::vector<std::vector<installed>> open_;       // by thread: the open ones, the innermost last
    std::uint32_t unknown_number_ = none;            // index of the attribute that is
    std::uint64_t unknown_ = 0;
};

}  // namespace

bool has_attributes(const task_records& records) {
    return !records.attributes.definitions.empty() ||
           std::ranges::any_of(records.attributes.ops, [](const carry_op& each) {
               return each.serial == coroscope::trace::attribute_unknown;
           });
}

void attach_attributes(const task_records& records, metadata& names, trace& loaded) {
    if (has_attributes(records)) attribute_pass(records, names, loaded).run();
}

}  // namespace coroscope::analysis::inline records
