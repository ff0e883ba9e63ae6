// SPDX-License-Identifier: Apache-2.0
#include "scope_records.hpp"

#include <algorithm>

#include "scope_texts.hpp"

namespace coroscope::analysis::loading {

using coroscope::trace::chunk_view;
using coroscope::trace::record_kind;
using coroscope::trace::record_view;

namespace {

// How a scope's time is known.
enum class scope_nature : std::uint8_t {
    stack,      // it ran on its thread throughout, nested as calls are
    by_hand,    // the same, but begun and ended by calls of their own
    exact,      // its task's slices and awaits divide it
    abandoned,  // the same; it ended with its frame, while its task was suspended
    unknown,    // nobody saw whether it was suspended
    suspended,  // it is an await: suspended throughout, its wake unseen
};

std::uint16_t event_flags_of(std::uint32_t flags) {
    namespace format = coroscope::trace;
    unsigned translated = 0;
    if ((flags & format::scope_in_frame) != 0) translated |= event_in_frame;
    if ((flags & format::scope_explicit) != 0) translated |= event_explicit;
    if ((flags & format::scope_await) != 0) translated |= event_await;
    if ((flags & format::scope_clipped) != 0) translated |= event_clipped;
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
          names_(context.names),
          next_op_(stream.first_op) {}

    stream_scopes run() {
        for (const chunk_view* chunk : stream_.chunks) {
            pass_op();  // the chunk's beginning counts as one
            coroscope::trace::for_each_record(*chunk, [this](const record_view& record) {
                const record_kind kind = record.kind();
                if (kind == record_kind::scope) [[likely]]
                    take_scope(record);
                else if (kind == record_kind::long_scope)
                    take_long_scope(record);
                else if (is_task_record(kind))
                    pass_op();
            });
        }
        return std::move(found_);
    }

    void reserve(std::size_t plain_scopes) { found_.stack.reserve(plain_scopes); }

private:
    // Keeps `at_` on the switch in force behind the task records passed so far.
    void pass_op() {
        while (at_ + 1 < line_.switches.size() && line_.switches[at_ + 1].op <= next_op_) ++at_;
        ++next_op_;
        in_force_ = line_.switches[at_];
    }

    void take_scope(const record_view& record) {
        const std::uint64_t start = record.word(0);
        const std::uint32_t site = names_.site(record.id());
        const std::int64_t start_ns = clock_.to_ns(start);
        const std::int64_t end_ns = std::max(start_ns, clock_.to_ns(start + record.value()));
        const bool plain = start_ns >= in_force_.time_ns && start >= clock_.start_ticks();
        if (plain && !texts_.has_arguments(site)) [[likely]] {
            found_.stack.push_back({start_ns, end_ns, site, static_cast<std::uint32_t>(at_)});
            return;
        }
        scope_extra extra;
        extra.site = site;
        extra.arguments = arguments_of(start, site, stream_.thread);
        if (start < clock_.start_ticks()) extra.flags = event_clipped;
        push_stack(start_ns, end_ns, extra);
    }

    void push_stack(std::int64_t start_ns, std::int64_t end_ns, scope_extra extra) {
        extra.own_ns = start_ns >= in_force_.time_ns
                           ? end_ns - start_ns
                           : line_.own_between(in_force_.group, start_ns, end_ns, at_);
        if (extra.name == none) extra.name = names_.site_name(extra.site);
        const auto index =
            static_cast<std::uint32_t>(found_.extras.size()) | stack_scope::has_extra;
        found_.extras.push_back(extra);
        found_.stack.push_back({start_ns, end_ns, index, static_cast<std::uint32_t>(at_)});
    }

    void take_long_scope(const record_view& record) {
        const std::uint32_t flags = record.value();
        const std::uint64_t start = record.word(0);
        const std::uint64_t mark = record.word(3);
        long_scope scope;
        scope.start_ns = clock_.to_ns(start);
        scope.end_ns = std::max(scope.start_ns, clock_.to_ns(start + record.word(2)));
        scope.thread = thread_of(coroscope::trace::mark_thread(mark));
        scope.task = context_.records.find_task(coroscope::trace::mark_task(mark));
        scope.flags = event_flags_of(flags);
        if (start < clock_.start_ticks()) scope.flags |= event_clipped;
        name(scope, record.id(), flags);
        const std::uint32_t arguments =
            scope.site == none ? none : arguments_of(start, scope.site, scope.thread);

        const scope_nature nature = nature_of(scope, flags);
        if (nature == scope_nature::stack) {
            push_stack(scope.start_ns, scope.end_ns,
                       {0, scope.site, scope.name, arguments, scope.flags});
            return;
        }
        scope.position = static_cast<std::uint32_t>(found_.stack.size());
        measure(scope, nature, arguments);
        found_.longs.push_back(scope);
    }

    void name(long_scope& scope, std::uint32_t id, std::uint32_t flags) {
        if ((flags & coroscope::trace::scope_dynamic) == 0) {
            scope.site = names_.site(id);
            scope.name = names_.site_name(scope.site);
            return;
        }
        scope.name = texts_.label(scope.thread, id);
        if (scope.name == none) scope.name = names_.intern("unknown label");
    }

    [[nodiscard]] scope_nature nature_of(const long_scope& scope, std::uint32_t flags) const {
        namespace format = coroscope::trace;
        if ((flags & format::scope_await) != 0) return scope_nature::suspended;
        const bool in_frame = (flags & format::scope_in_frame) != 0;
        if (scope.task != none && in_frame && died_suspended(scope)) return scope_nature::abandoned;
        if ((flags & format::scope_explicit) != 0) return nature_of_explicit(scope, in_frame);
        if (!in_frame) return scope_nature::stack;
        const bool exact = (flags & format::scope_exact) != 0 && scope.task != none;
        return exact ? scope_nature::exact : scope_nature::unknown;
    }

    [[nodiscard]] scope_nature nature_of_explicit(const long_scope& scope, bool in_frame) const {
        if (scope.task != in_force_.task) return scope_nature::unknown;
        if (scope.task != none) return scope_nature::exact;
        return in_frame || scope.thread != stream_.thread ? scope_nature::unknown
                                                          : scope_nature::by_hand;
    }

    [[nodiscard]] bool died_suspended(const long_scope& scope) const {
        if (context_.histories.destroying_thread(scope.task) != stream_.thread) return false;
        const optional_ns& destroyed_ns = context_.loaded.tasks[scope.task].end_ns;
        return destroyed_ns && *destroyed_ns >= scope.end_ns &&
               !context_.histories.runs_at(scope.task, scope.end_ns);
    }

    void measure(long_scope& scope, scope_nature nature, std::uint32_t arguments) {
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

    std::uint32_t arguments_of(std::uint64_t start, std::uint32_t site, std::uint32_t thread) {
        return texts_.has_arguments(site) ? texts_.take_arguments(thread, start, site) : none;
    }

    // A mark cannot hold every thread id; one it cannot hold counts as the thread of the end.
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
    symbols& names_;
    stream_scopes found_;
    switch_point in_force_;
    std::size_t at_ = 0;
    std::uint32_t next_op_;
};

}  // namespace

stream_scopes read_scopes(const thread_stream& stream, const timeline& line, scope_texts& texts,
                          const scope_context& context) {
    scope_pass pass(stream, line, texts, context);
    std::size_t bytes = 0;
    for (const chunk_view* chunk : stream.chunks) bytes += chunk->bytes;
    pass.reserve(bytes / coroscope::trace::record_unit_bytes);
    return pass.run();
}

}  // namespace coroscope::analysis::loading
