// SPDX-License-Identifier: Apache-2.0
#include "stream_sums.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "../answer/whole_calls.hpp"

namespace coroscope::analysis::inline streamed {
namespace {

namespace format = coroscope::trace;
using coroscope::trace::record_kind;
using coroscope::trace::record_view;

constexpr std::int64_t end_of_time = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t most_kept = 1024;  // stacks that are put away, which need memory

std::uint32_t known_task(const trace& loaded, std::uint32_t task) {
    return task < loaded.tasks.size() ? task : none;
}

std::int64_t state_times::* part_of(thread_state state) {
    switch (state) {
        case thread_state::on_cpu: return &state_times::on_cpu_ns;
        case thread_state::blocked: return &state_times::blocked_ns;
        case thread_state::preempted: return &state_times::preempted_ns;
        case thread_state::unknown: break;
    }
    return nullptr;
}

}  // namespace

stream_sums::stream_sums(const sums_context& context, std::uint32_t stream)
    : streams_(context.streams),
      row_of_(context.rows),
      stream_(context.streams.records.streams[stream]),
      line_(context.streams.timelines[stream]),
      clock_(context.streams.clock),
      number_(stream),
      switch_(line_.switches.size() - 1),
      before_ns_(end_of_time),
      sums_(context.rows.size()),
      any_states_(context.streams.loaded.states.any()),
      has_slices_(!line_.slices.empty()) {
    const thread_states& states = streams_.loaded.states;
    if (any_states_) states_ = context.states;
    if (any_states_ && stream_.thread < states.histories.size() &&
        states.histories[stream_.thread].points.size() > 1)
        history_ = &states.histories[stream_.thread];
    group_ = known_task(streams_.loaded, line_.switches[switch_].group);
    in_task_ = is_in_task();
    open_ = take_stack(group_);
}

bool stream_sums::run() {
    for (std::size_t index = stream_.records.chunks().size(); index-- > 0;)
        if (!take_chunk(index)) return false;
    end_stack();
    for (auto& [group, kept] : kept_) {
        open_ = std::move(kept);
        end_stack();
    }
    return true;
}

bool stream_sums::take_chunk(std::size_t index) {
    const format::chunk_view& chunk = *stream_.records.chunks()[index];
    const bool one_owner = line_.switches[switch_].position <= stream_.records.chunk(index).first;
    if (chunk.starts.known() && one_owner) return take_scopes(chunk.records, chunk.bytes);
    return take_mixed(index);
}

bool stream_sums::take_scopes(const unsigned char* records, std::size_t bytes) {
    for (std::size_t at = bytes; at >= format::record_unit_bytes;) {
        at -= format::record_unit_bytes;
        if (!take_short(records + at)) return false;
    }
    return true;
}

bool stream_sums::take_mixed(std::size_t index) {
    const format::chunk_view& chunk = *stream_.records.chunks()[index];
    const chunk_place place = stream_.records.chunk(index);
    offsets_.clear();
    format::for_each_record(chunk, [&](const record_view& record) {
        const bool is_long = record.kind() == record_kind::long_scope;
        if (record.kind() == record_kind::scope || (is_long && is_stack_scope(record.value())))
            offsets_.push_back(static_cast<std::uint32_t>(record.data - chunk.records));
    });
    for (std::size_t at = offsets_.size(); at-- > 0;) {
        const std::uint32_t offset = offsets_[at];
        const std::uint32_t position =
            place.first + offset / static_cast<std::uint32_t>(format::record_unit_bytes);
        std::size_t in_force = switch_;
        while (in_force > 0 && line_.switches[in_force].position > position) --in_force;
        if (in_force != switch_) go_to(in_force);
        if (kept_.size() > most_kept) return false;
        const record_view record = format::record_at(chunk.records + offset, chunk.bytes - offset);
        if (record.bytes == 0) return false;
        if (!(record.kind() == record_kind::scope ? take_short(record.data) : take_long(record)))
            return false;
    }
    return true;
}

bool stream_sums::take_short(const unsigned char* record) {
    std::uint64_t words[2];
    std::memcpy(words, record, sizeof words);
    found_scope scope;
    scope.site_id = format::tag_id(words[1]);
    scope.start_ns = clock_.to_ns(words[0]);
    scope.end_ns = std::max(scope.start_ns, clock_.to_ns(words[0] + format::tag_value(words[1])));
    scope.clipped = words[0] < clock_.start_ticks();
    return take(scope);
}

bool stream_sums::take_long(const record_view& record) {
    if ((record.value() & format::scope_dynamic) != 0) return false;
    found_scope scope;
    scope.site_id = record.id();
    scope.start_ns = clock_.to_ns(record.word(0));
    scope.end_ns = std::max(scope.start_ns, clock_.to_ns(record.word(0) + record.word(2)));
    scope.clipped =
        (record.value() & format::scope_clipped) != 0 || record.word(0) < clock_.start_ticks();
    return take(scope);
}

bool stream_sums::take(const found_scope& scope) {
    const std::uint32_t row = row_of_.of(scope.site_id);
    if (row == none || scope.end_ns > before_ns_) [[unlikely]]
        return false;
    before_ns_ = scope.end_ns;
    while (!open_.scopes.empty() && open_.scopes.back().start_ns > scope.start_ns) {
        if (open_.scopes.back().start_ns < scope.end_ns) [[unlikely]]
            return false;  // the two overlap
        take_off();
    }
    if (open_.is_back && open_.scopes.empty()) [[unlikely]]
        end_extent();
    const std::int64_t wall_ns = scope.end_ns - scope.start_ns;
    scope_time time{{wall_ns, 0, 0, 0}, wall_ns};
    if (scope.start_ns < line_.switches[switch_].time_ns) [[unlikely]]
        if (!measure(scope, time)) return false;
    row_sums& sum = sums_[row];
    if (sum.count == 0 || scope.start_ns < sum.first_start_ns) [[unlikely]]
        set_first(scope, sum);
    const bool nested = open_.of_row[row] != 0;
    if (scope.clipped) [[unlikely]]
        ++sum.partial_count;
    else
        take_lengths(sum, wall_ns, wall_ns);
    ++sum.count;
    ++place_;
    if (wall_ns == 0) return true;  // it encloses no scope, and adds no time
    if (!nested) {
        sum.wall_ns += wall_ns;
        sum.running_ns += time.split.running_ns;
        sum.suspended_ns += time.split.suspended_ns;
        sum.queued_ns += time.split.queued_ns;
        sum.waiting_ns += time.split.waiting_ns;
    }
    if (any_states_) add_states(scope, sum, nested);
    if (!open_.scopes.empty()) open_.scopes.back().self_ns -= time.own_ns;
    open_.extent.start_ns = std::min(open_.extent.start_ns, scope.start_ns);
    open_.extent.end_ns = std::max(open_.extent.end_ns, scope.end_ns);
    open_.scopes.push_back({scope.start_ns, scope.end_ns, time.own_ns, row, in_task_});
    ++open_.of_row[row];
    most_open_ = std::max(most_open_, open_.scopes.size());
    return true;
}

// Measures a scope that began before the switch in force.
bool stream_sums::measure(const found_scope& scope, scope_time& time) const {
    const switch_point& in_force = line_.switches[switch_];
    const std::int64_t wall_ns = scope.end_ns - scope.start_ns;
    time.own_ns = line_.own_between(in_force.group, scope.start_ns, scope.end_ns, switch_);
    const bool handed_over = time.own_ns != wall_ns && in_force.group != none &&
                             in_force.group == known_task(streams_.loaded, in_force.task);
    if (!handed_over) return true;
    time.split = streams_.histories.between(in_force.group, scope.start_ns, scope.end_ns).time;
    return !any_states_;
}

// Reading backwards, nearly every scope is the first one of its row so far.
void stream_sums::set_first(const found_scope& scope, row_sums& sum) const {
    sum.first_start_ns = scope.start_ns;
    sum.first_end_ns = scope.end_ns;
    sum.first_stream = number_;
    sum.first_place = place_;
    sum.site_id = scope.site_id;
    sum.has_parent = !open_.scopes.empty();
    sum.parent_unknown = false;
    if (scope.start_ns == scope.end_ns) [[unlikely]]
        find_parent_of_empty(scope, sum);
}

// An empty scope is no child of a scope that ends with it. Its parent may be a scope that begins
// with it, and has been taken off, or is on a stack that was put away.
void stream_sums::find_parent_of_empty(const found_scope& scope, row_sums& sum) const {
    sum.has_parent = (!open_.scopes.empty() && open_.scopes.front().end_ns > scope.start_ns) ||
                     open_.ended_before_ns == scope.start_ns;
    sum.parent_unknown = !sum.has_parent && group_ != none && switch_ + 1 < line_.switches.size() &&
                         line_.switches[switch_ + 1].time_ns <= scope.end_ns;
}

void stream_sums::add_states(const found_scope& scope, row_sums& sum, bool nested) {
    const bool apart = has_slices_ && !in_task_;
    if (scope.start_ns < piece_from_ns_ || scope.end_ns > piece_to_ns_ || apart) [[unlikely]]
        return add_states_slowly(scope, sum, nested);
    const std::int64_t wall_ns = scope.end_ns - scope.start_ns;
    sum.self_states.*piece_part_ += wall_ns;
    if (!open_.scopes.empty()) sums_[open_.scopes.back().row].self_states.*piece_part_ -= wall_ns;
    if (!nested) sum.states.*piece_part_ += wall_ns;
}

void stream_sums::add_states_slowly(const found_scope& scope, row_sums& sum, bool nested) {
    event decoded;
    decoded.start_ns = scope.start_ns;
    decoded.end_ns = scope.end_ns;
    decoded.thread = stream_.thread;
    decoded.task = known_task(streams_.loaded, line_.switches[switch_].task);
    const state_times own = states_->own(decoded);
    sum.self_states.add(own);
    if (!open_.scopes.empty()) sums_[open_.scopes.back().row].self_states.subtract(own);
    if (!nested) sum.states.add(states_->running(decoded));
    find_piece(scope.start_ns);
}

// Finds the piece of the thread's history at that time, if all of it is one state.
void stream_sums::find_piece(std::int64_t time_ns) {
    piece_from_ns_ = end_of_time;
    if (history_ == nullptr) {
        piece_part_ = &state_times::unknown_ns;
        piece_from_ns_ = 0;
        piece_to_ns_ = end_of_time;
        return;
    }
    const std::vector<state_point>& points = history_->points;
    const auto next = std::ranges::upper_bound(points, time_ns, {}, &state_point::time_ns);
    if (next == points.begin() || next == points.end()) return;
    const auto piece = std::prev(next);
    piece_part_ = part_of(piece->state);
    if (piece_part_ == nullptr) return;
    piece_from_ns_ = piece->time_ns;
    piece_to_ns_ = next->time_ns;
}

void stream_sums::go_to(std::size_t switch_index) {
    const std::uint32_t group = known_task(streams_.loaded, line_.switches[switch_index].group);
    if (group != group_) {
        leave();
        enter(group);
    }
    switch_ = switch_index;
    in_task_ = is_in_task();
}

bool stream_sums::is_in_task() const {
    return known_task(streams_.loaded, line_.switches[switch_].task) != none;
}

void stream_sums::enter(std::uint32_t group) {
    group_ = group;
    const auto kept = kept_.find(group);
    if (kept == kept_.end()) {
        open_ = take_stack(group);
        return;
    }
    open_ = std::move(kept->second);
    open_.is_back = true;
    kept_.erase(kept);
}

// Puts the stack away: for later, if scopes on it began before the task came to the thread; else
// earlier scopes of the task are in none of them.
void stream_sums::leave() {
    const bool needed =
        group_ == none ||
        (!open_.scopes.empty() && open_.scopes.front().start_ns < line_.switches[switch_].time_ns);
    if (needed) {
        kept_.insert_or_assign(group_, std::move(open_));
        return;
    }
    end_stack();
    unused_.push_back(std::move(open_));
}

stream_sums::scope_stack stream_sums::take_stack(std::uint32_t group) {
    scope_stack taken;
    if (!unused_.empty()) {
        taken = std::move(unused_.back());
        unused_.pop_back();
    } else {
        taken.of_row.resize(row_of_.size());
    }
    taken.ended_before_ns = -1;
    taken.is_back = false;
    taken.extent = {end_of_time, -1, group, number_};
    return taken;
}

void stream_sums::take_off() {
    const open_scope ended = open_.scopes.back();
    open_.scopes.pop_back();
    --open_.of_row[ended.row];
    open_.ended_before_ns = ended.start_ns;
    const std::int64_t self_ns = std::max<std::int64_t>(ended.self_ns, 0);
    sums_[ended.row].self_ns += self_ns;
    self_.add(self_ns, ended.in_task);
}

void stream_sums::end_extent() {
    if (open_.extent.task != none && open_.extent.start_ns <= open_.extent.end_ns)
        extents_.push_back(open_.extent);
    open_.extent = {end_of_time, -1, open_.extent.task, number_};
    open_.is_back = false;
}

void stream_sums::end_stack() {
    while (!open_.scopes.empty()) take_off();
    end_extent();
}

}  // namespace coroscope::analysis::inline streamed
