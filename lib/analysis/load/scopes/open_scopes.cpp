// SPDX-License-Identifier: Apache-2.0
#include "open_scopes.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace coroscope::analysis::inline scopes {
namespace {

namespace format = coroscope::trace;

class open_pass {
public:
    open_pass(scope_texts& texts, const std::vector<timeline>& timelines,
              const scope_context& context)
        : texts_(texts), timelines_(timelines), context_(context), loaded_(context.loaded) {}

    // Adds the open scopes, the latest first: of scopes that began in one tick, the later one must
    // take its arguments and notes first.
    void run(std::vector<stream_scopes>& scopes) {
        std::vector<open_place> places = context_.records.open_scopes;
        if (!loaded_.health.finished) leave_out_ended(places);
        std::sort(places.begin(), places.end(), began_later);
        // The model orders scopes of equal times by position, the greater one first.
        std::uint32_t position = none - static_cast<std::uint32_t>(places.size());
        for (const open_place& each : places)
            scopes[each.stream].others.push_back(scope_of(each, position++));
        loaded_.health.open_scopes = places.size();
    }

private:
    static bool began_later(const open_place& left, const open_place& right) {
        return std::tie(left.start_ticks, left.order) > std::tie(right.start_ticks, right.order);
    }

    // A file that is still written to may show a scope as open in one chunk and as ended in
    // another, which was read later.
    void leave_out_ended(std::vector<open_place>& places) const {
        if (places.empty()) return;
        std::sort(places.begin(), places.end(), began_later);
        for (const thread_stream& stream : context_.records.streams) {
            for (const std::uint32_t at : stream.stack_scopes) leave_out(places, stream, at);
            for (const std::uint32_t at : stream.other_scopes) leave_out(places, stream, at);
        }
    }

    void leave_out(std::vector<open_place>& places, const thread_stream& stream,
                   std::uint32_t position) const {
        const format::record_view record = stream.records.record(position);
        const std::uint64_t start = record.word(0);
        auto at = std::lower_bound(
            places.begin(), places.end(), start,
            [](const open_place& each, std::uint64_t sought) { return each.start_ticks > sought; });
        for (; at != places.end() && at->start_ticks == start; ++at) {
            if (!is_of(*at, record, stream)) continue;
            places.erase(at);
            return;
        }
    }

    [[nodiscard]] bool is_of(const open_place& place, const format::record_view& record,
                             const thread_stream& ended_in) const {
        std::uint32_t thread = ended_in.thread;
        if (record.kind() == format::record_kind::long_scope) {
            if ((record.value() & format::scope_dynamic) != 0) return false;
            const std::uint32_t began_on = format::mark_thread(record.word(3));
            if (began_on != format::mark_thread_unknown)
                thread = context_.names.known_thread(began_on);
        }
        return context_.names.site(record.id()) == place.site &&
               context_.records.streams[place.stream].thread == thread;
    }

    other_scope scope_of(const open_place& place, std::uint32_t position) {
        other_scope scope;
        scope.start_ns = context_.clock.to_ns(place.start_ticks);
        scope.end_ns = std::max(scope.start_ns, loaded_.duration_ns);
        scope.position = position;
        scope.site = place.site;
        scope.name = context_.names.site_name(place.site);
        scope.thread = context_.records.streams[place.stream].thread;
        scope.task = context_.records.find_task(place.task_id);
        scope.flags = event_open;
        if (place.start_ticks < context_.clock.start_ticks()) scope.flags |= event_clipped;
        scope.note = context_.notes.take(scope.thread, place.start_ticks);
        event_detail detail;
        detail.end_thread = scope.thread;
        if (texts_.has_arguments(place.site))
            detail.arguments = texts_.take_arguments(scope.thread, place.start_ticks, place.site);
        if ((place.flags & format::scope_in_frame) != 0)
            measure_in_frame(scope, (place.flags & format::scope_exact) != 0, detail);
        else
            measure_on_stack(scope, timelines_[place.stream], detail);
        scope.detail = static_cast<std::uint32_t>(loaded_.details.size());
        loaded_.details.push_back(detail);
        return scope;
    }

    void measure_in_frame(other_scope& scope, bool exact, event_detail& detail) const {
        scope.flags |= event_in_frame;
        const std::int64_t wall_ns = scope.end_ns - scope.start_ns;
        if (exact && scope.task != none) {
            const owned_split split =
                context_.histories.between(scope.task, scope.start_ns, scope.end_ns);
            detail.time = split.time;
            scope.own_ns = split.own_ns;
        } else {
            detail.time.waiting_ns = wall_ns;
            scope.encloses = false;
            scope.flags |= event_suspension_unknown;
        }
        if (detail.time.running_ns != wall_ns) scope.flags |= event_async;
    }

    // The scope takes the time of the task, or of the thread, that ran on its thread when it began.
    void measure_on_stack(other_scope& scope, const timeline& line, event_detail& detail) const {
        const std::int64_t wall_ns = scope.end_ns - scope.start_ns;
        const std::vector<switch_point>& switches = line.switches;
        const auto after = std::upper_bound(
            switches.begin() + 1, switches.end(), scope.start_ns,
            [](std::int64_t moment, const switch_point& next) { return moment < next.time_ns; });
        auto at = static_cast<std::size_t>(after - switches.begin()) - 1;
        while (at > 0 && switches[at].task != scope.task && switches[at].time_ns == scope.start_ns)
            --at;
        scope.on_stack = true;
        scope.group = switches[at].task == scope.task ? switches[at].group : scope.task;
        scope.own_ns =
            line.own_between(scope.group, scope.start_ns, scope.end_ns, switches.size() - 1);
        if (scope.own_ns != wall_ns && scope.group != none && scope.group == scope.task)
            detail.time = context_.histories.between(scope.task, scope.start_ns, scope.end_ns).time;
        else
            detail.time.running_ns = wall_ns;
    }

    scope_texts& texts_;
    const std::vector<timeline>& timelines_;
    const scope_context& context_;
    trace& loaded_;
};

}  // namespace

void add_open_scopes(scope_texts& texts, const std::vector<timeline>& timelines,
                     const scope_context& context, std::vector<stream_scopes>& scopes) {
    open_pass(texts, timelines, context).run(scopes);
}

}  // namespace coroscope::analysis::inline scopes
