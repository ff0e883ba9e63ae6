// SPDX-License-Identifier: Apache-2.0
#include "random_traces.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <coroscope/trace/format.hpp>

namespace coroscope::test {
namespace {

constexpr std::uint32_t threads = 3;
constexpr std::uint64_t tasks = 6;

class random_program {
public:
    random_program(std::uint32_t number, const random_parts& parts)
        : parts_(parts), random_(number) {
        for (const char* label : {"a", "b", "c"}) sites_.push_back(built_.site(label));
        sites_.push_back(built_.site("a", "other.cpp", 7));
        sites_.push_back(built_.site("f", "f.cpp", 3, trace::site_kind::function));
        await_ = built_.site("wait", "wait.cpp", 5, trace::site_kind::await);
    }

    trace_builder run() {
        std::vector<std::int64_t> times(threads + 1, 0);
        for (int turn = 0; turn < 60; ++turn) {
            const std::uint32_t thread = 1 + below(threads);
            // The tasks of a trace run one after the other, those of the threads at any time.
            const bool of_task = parts_.tasks && below(2) == 0;
            now_ = of_task ? *std::ranges::max_element(times) + below(9) : times[thread];
            if (below(8) == 0) built_.on(thread).next_chunk(now_);
            of_task ? run_task(thread, 1 + below(tasks), 0) : block(thread, 0, 0);
            now_ += below(3);
            times[thread] = now_;
        }
        const std::int64_t end = *std::ranges::max_element(times);
        if (parts_.states) add_states(end);
        built_.lasts(end + 5);
        return std::move(built_);
    }

private:
    std::uint32_t below(std::uint64_t limit) {
        return static_cast<std::uint32_t>(random_() % limit);
    }

    void block(std::uint32_t thread, std::uint64_t task, int depth) {
        const std::int64_t start = now_;
        for (std::uint32_t parts = below(4); parts > 0 && depth < 6; --parts) {
            now_ += below(3);
            if (task != 0 && parts_.hand_overs && below(5) == 0)
                run_task(thread, 1 + below(tasks), task);
            else
                block(thread, task, depth + 1);
        }
        now_ += below(3);
        const std::int64_t early = parts_.damage && below(20) == 0 ? below(4) : 0;
        end_scope(thread, task, std::max<std::int64_t>(0, start - early));
    }

    void end_scope(std::uint32_t thread, std::uint64_t task, std::int64_t start) {
        const std::uint32_t site = sites_[below(sites_.size())];
        const std::uint32_t kind = below(12);
        if (kind == 0)
            built_.on(thread).long_scope(site, start, now_, 0, task);
        else if (kind == 1 && task != 0 && parts_.in_frame)
            built_.on(thread).long_scope(site, start, now_,
                                         trace::scope_in_frame | trace::scope_exact, task);
        else
            built_.on(thread).scope(site, start, now_);
    }

    // A task runs, and is suspended or ends. `below_it` runs beneath it, or 0.
    void run_task(std::uint32_t thread, std::uint64_t task, std::uint64_t below_it) {
        if (std::ranges::find(running_, task) != running_.end()) return;
        running_.push_back(task);
        if (below(3) == 0) built_.on(thread).wake(now_, task);
        now_ += below(2);
        built_.on(thread).resume(now_, task, below_it);
        const std::int64_t start = now_;
        for (std::uint32_t blocks = below(3); blocks > 0; --blocks) {
            now_ += below(2);
            block(thread, task, 1);
        }
        now_ += below(2);
        if (parts_.in_frame && below(3) == 0)
            built_.on(thread).long_scope(sites_[below(sites_.size())],
                                         below(2) == 0 ? start : start / 2, now_,
                                         trace::scope_in_frame | trace::scope_exact, task);
        built_.on(thread).suspend(now_, task, await_, below_it);
        running_.pop_back();
    }

    void add_states(std::int64_t end) {
        for (std::uint32_t thread = 1; thread < threads; ++thread) {  // the last one has no states
            built_.kernel().enters(thread, 0);
            for (std::int64_t at = below(40); at < end; at += 1 + below(60)) {
                if (below(2) == 0)
                    built_.kernel().leaves(thread, at);
                else
                    built_.kernel().preempted(thread, at);
                at += 1 + below(10);
                built_.kernel().enters(thread, at);
            }
        }
    }

    random_parts parts_;
    std::mt19937 random_;
    trace_builder built_;
    std::vector<std::uint32_t> sites_;
    std::uint32_t await_ = 0;
    std::int64_t now_ = 0;
    std::vector<std::uint64_t> running_;
};

}  // namespace

trace_builder random_trace(std::uint32_t number, const random_parts& parts) {
    return random_program(number, parts).run();
}

}  // namespace coroscope::test
