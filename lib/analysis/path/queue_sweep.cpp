// SPDX-License-Identifier: Apache-2.0
#include "queue_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace coroscope::analysis::inline paths {
namespace {

// In the order of the moves of one time. The changes of the threads' work, which are no moves, come
// at `work`.
enum class move_kind : std::uint8_t { leave, work, strand_end, strand_begin, quit, serve, enter };

// A change of the state of a queue.
struct move {
    std::int64_t time_ns;
    std::uint32_t what;   // index of the wait; of the queue
    std::uint32_t value;  // the thread
    std::uint32_t order;  // among the moves of one time and kind
    move_kind kind;

    [[nodiscard]] bool operator<(const move& other) const {
        return std::tie(time_ns, kind, order) < std::tie(other.time_ns, other.kind, other.order);
    }
};

struct charge_sum {
    double time_ns = 0;
    std::uint64_t count = 0;
};
using charge_key = std::pair<std::uint32_t, std::uint32_t>;  // waiting place, place
using charge_map = std::map<charge_key, charge_sum>;

// A thread that serves a queue, with the charges of its current work that are not in the map yet.
struct seat {
    std::uint32_t thread = none;
    std::uint32_t place = idle_place;
    bool serves = false;
    std::int64_t charged_until_ns = INT64_MIN;
    std::vector<double> pending{};  // by waiting place of the queue
};

// The state of one queue.
class queue_state {
public:
    [[nodiscard]] bool is_used() const { return waits_ != 0; }
    void expect_wait() { ++waits_; }

    seat& seat_of(std::uint32_t thread) {
        const auto found = std::ranges::find(seats_, thread, &seat::thread);
        if (found != seats_.end()) return *found;
        seats_.push_back({.thread = thread});
        return seats_.back();
    }

    void enter(const queued_wait& wait, std::int64_t time_ns) {
        charge_until(time_ns);
        ++lengths_[local_of(wait.waiting)];
        ++length_;
    }

    void leave(const queued_wait& wait, std::int64_t time_ns, charge_map& to) {
        charge_until(time_ns);
        --lengths_[local_of(wait.waiting)];
        --length_;
        for (seat& each : seats_) note_charged(each);
        if (unknown_until_ns_ > wait.from_ns) ++to[{wait.waiting, unknown_place}].count;
        for (const auto& [place, until_ns] : charged_until_ns_)
            if (until_ns > wait.from_ns) ++to[{wait.waiting, place}].count;
    }

    void change_work(std::uint32_t thread, std::uint32_t place, std::int64_t time_ns,
                     charge_map& to) {
        seat& of = seat_of(thread);
        if (of.place == place) return;
        charge_until(time_ns);
        flush(of, to);
        of.place = place;
    }

    void set_serving(std::uint32_t thread, bool serves, std::int64_t time_ns) {
        charge_until(time_ns);
        seat_of(thread).serves = serves;
    }

    void set_strand(std::uint32_t thread, std::int64_t time_ns) {
        charge_until(time_ns);
        strand_thread_ = thread;
    }

    void finish(charge_map& to) {
        for (seat& each : seats_) flush(each, to);
        for (std::size_t at = 0; at < unknown_.size(); ++at)
            if (unknown_[at] > 0) to[{waiting_[at], unknown_place}].time_ns += unknown_[at];
    }

private:
    std::size_t local_of(std::uint32_t waiting) {
        const auto [found, is_new] = locals_.try_emplace(waiting, waiting_.size());
        if (is_new) {
            waiting_.push_back(waiting);
            lengths_.push_back(0);
            unknown_.push_back(0);
        }
        return found->second;
    }

    // Charges the time since the last change to the seats that charge_queues() prescribes.
    void charge_until(std::int64_t time_ns) {
        const std::int64_t passed_ns = time_ns - last_ns_;
        last_ns_ = time_ns;
        if (length_ == 0 || passed_ns <= 0) return;
        const auto is_strand = [this](const seat& each) {
            return each.serves && each.thread == strand_thread_;
        };
        const auto is_idle = [](const seat& each) {
            return each.serves && each.place == idle_place;
        };
        if (strand_thread_ != none && std::ranges::any_of(seats_, is_strand))
            share(passed_ns, is_strand);
        else if (std::ranges::any_of(seats_, is_idle))
            share(passed_ns, is_idle);
        else
            share(passed_ns, [](const seat& each) { return each.serves; });
    }

    template <class Chosen>
    void share(std::int64_t passed_ns, Chosen chosen) {
        const std::ptrdiff_t count = std::ranges::count_if(seats_, chosen);
        if (count == 0) {
            for (std::size_t at = 0; at < lengths_.size(); ++at)
                unknown_[at] += static_cast<double>(passed_ns) * static_cast<double>(lengths_[at]);
            unknown_until_ns_ = last_ns_;
            return;
        }
        const double part = static_cast<double>(passed_ns) / static_cast<double>(count);
        for (seat& each : seats_) {
            if (!chosen(each)) continue;
            each.charged_until_ns = last_ns_;
            each.pending.resize(lengths_.size());
            for (std::size_t at = 0; at < lengths_.size(); ++at)
                each.pending[at] += part * static_cast<double>(lengths_[at]);
        }
    }

    void note_charged(const seat& of) {
        if (of.charged_until_ns == INT64_MIN) return;
        std::int64_t& until_ns = charged_until_ns_.try_emplace(of.place, INT64_MIN).first->second;
        until_ns = std::max(until_ns, of.charged_until_ns);
    }

    void flush(seat& of, charge_map& to) {
        note_charged(of);
        of.charged_until_ns = INT64_MIN;
        for (std::size_t at = 0; at < of.pending.size(); ++at) {
            if (of.pending[at] > 0) to[{waiting_[at], of.place}].time_ns += of.pending[at];
            of.pending[at] = 0;
        }
    }

    std::vector<seat> seats_;
    std::uint32_t strand_thread_ = none;
    std::uint64_t waits_ = 0;
    std::uint64_t length_ = 0;
    std::int64_t last_ns_ = INT64_MIN / 2;
    std::unordered_map<std::uint32_t, std::size_t> locals_;  // by waiting place
    // By waiting place of the queue: the place, its waits now, its time without a known thread.
    std::vector<std::uint32_t> waiting_;
    std::vector<std::uint64_t> lengths_;
    std::vector<double> unknown_;
    std::int64_t unknown_until_ns_ = INT64_MIN;
    std::unordered_map<std::uint32_t, std::int64_t> charged_until_ns_;  // by place
};

// The changes of all threads in the order of their times. Those of one thread keep their order.
class work_order {
public:
    explicit work_order(std::span<const work_change> work) : work_(work) {
        for (std::size_t at = 0; at < work.size();) {
            std::size_t end = at + 1;
            while (end < work.size() && work[end].thread == work[at].thread &&
                   work[end].time_ns >= work[end - 1].time_ns)
                ++end;
            runs_.push({work[at].time_ns, at, end});
            at = end;
        }
    }

    /// Null if all changes were taken.
    [[nodiscard]] const work_change* next() const {
        return runs_.empty() ? nullptr : &work_[runs_.top().at];
    }

    void pop() {
        run first = runs_.top();
        runs_.pop();
        if (++first.at == first.end) return;
        first.time_ns = work_[first.at].time_ns;
        runs_.push(first);
    }

private:
    // Changes of one thread that are in order.
    struct run {
        std::int64_t time_ns;
        std::size_t at;
        std::size_t end;

        [[nodiscard]] bool operator>(const run& other) const {
            return std::tie(time_ns, at) > std::tie(other.time_ns, other.at);
        }
    };

    std::span<const work_change> work_;
    std::priority_queue<run, std::vector<run>, std::greater<>> runs_;
};

class queue_sweep {
public:
    queue_sweep(const trace& loaded, const executor_threads& threads,
                std::span<const queued_wait> waits)
        : executors_(loaded.executors.size()),
          threads_(threads),
          waits_(waits),
          queues_(executors_ + loaded.threads.size()),
          queues_of_thread_(loaded.threads.size()) {}

    charge_map sweep(std::span<const work_change> work) {
        add_waits();
        add_threads();
        std::sort(moves_.begin(), moves_.end());
        work_order changes(work);
        for (const move& each : moves_) {
            while (const work_change* const next = changes.next()) {
                const bool is_before =
                    next->time_ns < each.time_ns ||
                    (next->time_ns == each.time_ns && each.kind > move_kind::work);
                if (!is_before) break;
                apply(*next);
                changes.pop();
            }
            apply(each);
        }
        for (; const work_change* const next = changes.next(); changes.pop()) apply(*next);
        for (queue_state& each : queues_) each.finish(charges_);
        return std::move(charges_);
    }

private:
    using spans = std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>>;  // by thread

    void add(std::int64_t time_ns, std::uint32_t what, std::uint32_t value, move_kind kind) {
        moves_.push_back({time_ns, what, value, static_cast<std::uint32_t>(moves_.size()), kind});
    }

    [[nodiscard]] bool has_queue(const queued_wait& wait) const {
        return wait.executor < executors_ || wait.thread < queues_of_thread_.size();
    }

    [[nodiscard]] std::size_t queue_of(const queued_wait& wait) const {
        return wait.executor < executors_ ? wait.executor : executors_ + wait.thread;
    }

    void add_waits() {
        for (std::uint32_t at = 0; at < waits_.size(); ++at) {
            const queued_wait& wait = waits_[at];
            if (wait.from_ns >= wait.to_ns) continue;
            if (!has_queue(wait)) {
                charge_sum& unknown = charges_[{wait.waiting, unknown_place}];
                unknown.time_ns += static_cast<double>(wait.to_ns - wait.from_ns);
                ++unknown.count;
                continue;
            }
            add(wait.from_ns, at, 0, move_kind::enter);
            add(wait.to_ns, at, 0, move_kind::leave);
            queues_[queue_of(wait)].expect_wait();
        }
    }

    // A thread serves an executor from its first job to its last one. The thread that ran a waiting
    // task next also serves the queue during the wait.
    void add_threads() {
        std::vector<spans> serving(queues_.size());
        const auto serve = [&](std::size_t queue, std::uint32_t thread, std::int64_t from_ns,
                               std::int64_t to_ns) {
            auto& span = serving[queue].try_emplace(thread, from_ns, to_ns).first->second;
            span = {std::min(span.first, from_ns), std::max(span.second, to_ns)};
        };
        for (const queued_wait& wait : waits_)
            if (has_queue(wait) && wait.thread < queues_of_thread_.size())
                serve(queue_of(wait), wait.thread, wait.from_ns, wait.to_ns);
        for (std::uint32_t queue = 0; queue < executors_; ++queue) {
            if (!queues_[queue].is_used()) continue;
            for (const serving_thread& each : threads_.of(queue))
                serve(queue, each.thread, each.from_ns, each.to_ns);
            for (const strand_run& each : threads_.jobs_of_strand(queue)) {
                add(each.from_ns, queue, each.thread, move_kind::strand_begin);
                add(each.to_ns, queue, each.thread, move_kind::strand_end);
            }
        }
        for (std::uint32_t queue = 0; queue < queues_.size(); ++queue)
            for (const auto& [thread, span] : serving[queue]) {
                queues_of_thread_[thread].push_back(queue);
                add(span.first, queue, thread, move_kind::serve);
                add(span.second, queue, thread, move_kind::quit);
            }
    }

    void apply(const move& next) {
        switch (next.kind) {
            case move_kind::enter:
                queues_[queue_of(waits_[next.what])].enter(waits_[next.what], next.time_ns);
                break;
            case move_kind::leave:
                queues_[queue_of(waits_[next.what])].leave(waits_[next.what], next.time_ns,
                                                           charges_);
                break;
            case move_kind::work: break;
            case move_kind::strand_end: queues_[next.what].set_strand(none, next.time_ns); break;
            case move_kind::strand_begin:
                queues_[next.what].set_strand(next.value, next.time_ns);
                break;
            case move_kind::quit:
            case move_kind::serve:
                queues_[next.what].set_serving(next.value, next.kind == move_kind::serve,
                                               next.time_ns);
                break;
        }
    }

    void apply(const work_change& next) {
        if (next.thread >= queues_of_thread_.size()) return;
        for (const std::uint32_t queue : queues_of_thread_[next.thread])
            queues_[queue].change_work(next.thread, next.place, next.time_ns, charges_);
    }

    std::size_t executors_;
    const executor_threads& threads_;
    std::span<const queued_wait> waits_;
    std::vector<queue_state> queues_;  // of executors, then of threads
    std::vector<std::vector<std::uint32_t>> queues_of_thread_;
    std::vector<move> moves_;
    charge_map charges_;
};

// Rounds the charges of each waiting place so that they add up to the lengths of its waits. The
// largest charge gets the rest.
std::vector<queue_charge> rounded(const charge_map& charges,
                                  std::map<std::uint32_t, std::int64_t> left) {
    std::vector<queue_charge> found;
    std::map<std::uint32_t, std::size_t> largest;
    for (const auto& [key, sum] : charges) {
        const auto& [waiting, place] = key;
        const std::int64_t time_ns =
            std::min<std::int64_t>(std::llround(sum.time_ns), left[waiting]);
        left[waiting] -= time_ns;
        found.push_back({waiting, place, time_ns, sum.count});
        std::size_t& best = largest.try_emplace(waiting, found.size() - 1).first->second;
        if (found[best].time_ns < time_ns) best = found.size() - 1;
    }
    for (const auto& [waiting, at] : largest) found[at].time_ns += left[waiting];
    return found;
}

}  // namespace

std::vector<queue_charge> charge_queues(const trace& loaded, const executor_threads& threads,
                                        std::span<const queued_wait> waits,
                                        std::span<const work_change> work) {
    std::map<std::uint32_t, std::int64_t> lengths;
    for (const queued_wait& each : waits)
        if (each.from_ns < each.to_ns) lengths[each.waiting] += each.to_ns - each.from_ns;
    return rounded(queue_sweep(loaded, threads, waits).sweep(work), std::move(lengths));
}

}  // namespace coroscope::analysis::inline paths
