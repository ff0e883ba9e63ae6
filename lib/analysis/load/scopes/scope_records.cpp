// SPDX-License-Identifier: Apache-2.0
#include "scope_records.hpp"

#include <algorithm>

#include "scope_texts.hpp"

namespace coroscope::analysis::inline scopes {

using coroscope::trace::record_kind;
using coroscope::trace::record_view;

namespace {

// The way in which a scope's time is known.
enum class scope_nature : std::uint8_t {
    by_hand,    // it ran on one thread, but may not nest as calls do
    exact,      // its task's slices and awaits divide it
    abandoned,  // the same; it ended with its frame, while its task was suspended
    unknown,    // it is unknown whether it was suspended
    suspended,  // it is an await: suspended throughout, its wake unseen
};

std::uint16_t event_flags_of(std::uint32_t flags) {
    namespace format = coroscope::trace;
    unsigned translated = 0;
    if ((flags & format::scope_in_frame) != 0) translated |= event_in_frame;
    if ((flags & format::scope_explicit) != 0) translated |= event_explicit;
    if ((flags & format::scope_await) != 0) translated |= event_await;
    if ((flags & format::scope_clipped) != 0) translated |= event_clipped;
    if ((flags & format::scope_left_out) != 0) translated |= event_left_out;
    return static_cast<std::uint16_t>(translated);
}

class scope_pass {
public:
    scope_pass(const thread_stream& stream, const timeline& line, scope_texts& texts,
               const scope_context& context)
        : stream_(stream),
          line_(line),
          texts_(texts),
          context_(context),
          clock_(context.clock),
          names_(context.names) {}

    stream_scopes run() {
        // Scopes are visited in the order of the stream: a scope that ended earlier must take its
        // arguments earlier.
        auto other = stream_.other_scopes.begin();
        const auto take_others_before = [&](std::uint32_t position) {
            for (; other != stream_.other_scopes.end() && *other < position; ++other)
                take_other(*other);
        };
        if (has_extras()) {
            for (const std::uint32_t position : stream_.stack_scopes) {
                take_others_before(position);
                take_extra(position);
            }
        }
        take_others_before(none);
        return std::move(found_);
    }

private:
    [[nodiscard]] bool has_extras() const {
        return texts_.any_arguments() || !context_.notes.empty() || stream_.has_long_stack_scopes;
    }

    void take_extra(std::uint32_t position) {
        const record_view record = stream_.records.record(position);
        if (record.bytes == 0) return;
        const bool is_long = record.kind() == record_kind::long_scope;
        scope_extra extra;
        extra.position = position;
        if (is_long && (record.value() & coroscope::trace::scope_dynamic) != 0) {
            extra.name = label_of(stream_.thread, record.id(), clock_.to_ns(record.word(0)),
                                  clock_.to_ns(record.word(0) + record.word(2)));
        } else {
            extra.site = names_.site(record.id());
            extra.name = names_.site_name(extra.site);
            extra.arguments = arguments_of(record.word(0), extra.site, stream_.thread);
        }
        if (is_long) extra.flags = event_flags_of(record.value());
        extra.note = context_.notes.take(stream_.thread, record.word(0));
        if (is_long || extra.arguments != none || extra.note != none)
            found_.extras.push_back(extra);
    }

    void take_other(std::uint32_t position) {
        const record_view record = stream_.records.record(position);
        if (record.bytes == 0 || record.kind() != record_kind::long_scope) return;
        at_ = line_.in_force(position, at_);
        const std::uint32_t flags = record.value();
        const std::uint64_t start = record.word(0);
        const std::uint64_t mark = record.word(3);
        other_scope scope;
        scope.position = position;
        scope.start_ns = clock_.to_ns(start);
        scope.end_ns = std::max(scope.start_ns, clock_.to_ns(start + record.word(2)));
        scope.thread = thread_of(coroscope::trace::mark_thread(mark));
        scope.task = context_.records.find_task(coroscope::trace::mark_task(mark));
        scope.flags = event_flags_of(flags);
        if (start < clock_.start_ticks()) scope.flags |= event_clipped;
        name(scope, record.id(), flags);
        scope.note = context_.notes.take(scope.thread, start);
        const std::uint32_t arguments =
            scope.site == none ? none : arguments_of(start, scope.site, scope.thread);
        measure(scope, nature_of(scope, flags), arguments);
        if ((flags & coroscope::trace::scope_range) != 0) stand_beside(scope);
        found_.others.push_back(scope);
    }

    void name(other_scope& scope, std::uint32_t id, std::uint32_t flags) {
        if ((flags & coroscope::trace::scope_dynamic) != 0) {
            scope.name = label_of(scope.thread, id, scope.start_ns, scope.end_ns);
            return;
        }
        scope.site = names_.site(id);
        scope.name = names_.site_name(scope.site);
    }

    std::uint32_t label_of(std::uint32_t thread, std::uint32_t serial, std::int64_t start_ns,
                           std::int64_t end_ns) {
        const std::uint32_t label = texts_.take_label(thread, serial, start_ns, end_ns);
        return label != none ? label : names_.intern("unknown label");
    }

    [[nodiscard]] scope_nature nature_of(const other_scope& scope, std::uint32_t flags) const {
        namespace format = coroscope::trace;
        if ((flags & format::scope_await) != 0) return scope_nature::suspended;
        if ((flags & format::scope_range) != 0)
            return scope.task != none ? scope_nature::exact : scope_nature::unknown;
        const bool in_frame = (flags & format::scope_in_frame) != 0;
        if (scope.task != none && in_frame && died_suspended(scope)) return scope_nature::abandoned;
        if ((flags & format::scope_explicit) != 0) return nature_of_explicit(scope, in_frame);
        const bool exact = (flags & format::scope_exact) != 0 && scope.task != none;
        return exact ? scope_nature::exact : scope_nature::unknown;
    }

    [[nodiscard]] scope_nature nature_of_explicit(const other_scope& scope, bool in_frame) const {
        if (scope.task != line_.switches[at_].task) return scope_nature::unknown;
        if (scope.task != none) return scope_nature::exact;
        return in_frame || scope.thread != stream_.thread ? scope_nature::unknown
                                                          : scope_nature::by_hand;
    }

    [[nodiscard]] bool died_suspended(const other_scope& scope) const {
        if (context_.histories.destroying_thread(scope.task) != stream_.thread) return false;
        const packed_list<task_info>& tasks = context_.loaded.tasks;
        const optional_ns destroyed_ns = tasks[scope.task].end_ns;
        return destroyed_ns && *destroyed_ns >= scope.end_ns &&
               !context_.histories.runs_at(scope.task, scope.end_ns);
    }

    void measure(other_scope& scope, scope_nature nature, std::uint32_t arguments) {
        event_detail detail;
        detail.end_thread = stream_.thread;
        detail.arguments = arguments;
        const std::int64_t wall_ns = scope.end_ns - scope.start_ns;
        if (nature == scope_nature::exact || nature == scope_nature::abandoned) {
            const owned_split split =
                context_.histories.between(scope.task, scope.start_ns, scope.end_ns);
            detail.time = split.time;
            scope.own_ns = split.own_ns;
        } else if (nature == scope_nature::by_hand) {
            detail.time.running_ns = wall_ns;
            scope.own_ns = line_.own_between(none, scope.start_ns, scope.end_ns, at_);
        } else {
            detail.time.waiting_ns = wall_ns;
            scope.encloses = false;
        }
        if (nature == scope_nature::unknown) scope.flags |= event_suspension_unknown;
        if (nature == scope_nature::abandoned) scope.flags |= event_abandoned;
        if (scope.thread != stream_.thread || detail.time.running_ns != wall_ns)
            scope.flags |= event_async;
        scope.detail = static_cast<std::uint32_t>(context_.loaded.details.size());
        context_.loaded.details.push_back(detail);
    }

    // Marks a range as asynchronous: it does not end with a block, so it does not nest in the calls
    // of a stack.
    static void stand_beside(other_scope& scope) {
        scope.flags |= event_async;
        scope.own_ns = 0;
        scope.encloses = false;
    }

    std::uint32_t arguments_of(std::uint64_t start, std::uint32_t site, std::uint32_t thread) {
        return texts_.has_arguments(site) ? texts_.take_arguments(thread, start, site) : none;
    }

    // A mark may be too small for a thread's id. Then the thread on which the range ended is used.
    [[nodiscard]] std::uint32_t thread_of(std::uint32_t id) const {
        if (id == 0 || id == coroscope::trace::mark_thread_unknown) return stream_.thread;
        return context_.loaded.threads[stream_.thread].id == id ? stream_.thread
                                                                : names_.thread(id);
    }

    const thread_stream& stream_;
    const timeline& line_;
    scope_texts& texts_;
    const scope_context& context_;
    clock_map& clock_;
    metadata& names_;
    stream_scopes found_;
    std::size_t at_ = 0;  // the switch in force at the current scope
};

}  // namespace

stream_scopes read_scopes(const thread_stream& stream, const timeline& line, scope_texts& texts,
                          const scope_context& context) {
    return scope_pass(stream, line, texts, context).run();
}

}  // namespace coroscope::analysis::inline scopes
