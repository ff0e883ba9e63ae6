// SPDX-License-Identifier: Apache-2.0

// Services with one planted fault each. `planted NAME` runs one of them. With a further argument,
// another thread records scopes until the trace is full. `planted` alone lists the programs, one
// per line: the name, the scope or await at the place of the fault, and the command that must name
// it: "why" (then coroscope check must, too) or "check". The place is "-" if the trace cannot show
// it, and empty if there is no fault.

#include "programs.hpp"

#include <chrono>
#include <cstdio>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <coroscope/coroscope.hpp>

namespace {

struct program {
    std::string_view name;
    void (*run)();
    std::string_view place;
    std::string_view command = "why";
};

using namespace planted;

constexpr program programs[] = {
    {"lock_over_sleep", lock_over_sleep::run, "cache.flush"},
    {"blocking_call", blocking_call::run, "log.write"},
    {"busy_strand", busy_strand::run, "index.rebuild"},
    {"small_pool", small_pool::run, "thumbnail"},
    {"exhausted_pool", exhausted_pool::run, "monthly report"},
    {"sequential_calls", sequential_calls::run, "fetch author"},
    {"retry", retry::run, "back-off"},
    {"long_delay", long_delay::run, "batch delay"},
    {"async_mutex", async_mutex::run, "account.audit"},
    {"connection_pool", connection_pool::run, "export query"},
    {"slow_consumer", slow_consumer::run, "index document"},
    {"slow_child", slow_child::run, "load reviews"},
    {"lost_reply", lost_reply::run, "reply time-out"},
    {"lock_convoy", lock_convoy::run, "counters.update"},
    {"locked_call", locked_call::run, "ledger.sync", "check"},
    {"big_tenant", big_tenant::run, "serialise"},
    {"head_of_line", head_of_line::run, "send big reply"},
    {"background_job", background_job::run, "compact"},
    {"busy_executor", busy_executor::run, "resize"},
    {"crowd", crowd::run, "render"},
    {"late_job", late_job::run, "estimate"},
    {"late_future", late_future::run, "estimate"},
    {"late_result", late_result::run, "estimate"},
    {"own_pool", own_pool::run, "vacuum log"},
#if PLANTED_FIBERS
    {"blocked_fibers", blocked_fibers::run, "save"},
#endif
    {"foreign_awaitable", foreign_awaitable::run, "-"},
    {"foreign_pool", foreign_pool::run, "-"},
    {"cold_start", cold_start::run, "db.connect", "check"},
    {"dropped", dropped::run, "planted::dropped::upload", "check"},
    {"growing", growing::run, "watch", "check"},
    {"herd", herd::run, "licence.take", "check"},
    {"in_a_row", in_a_row::run, "load orders", "check"},
    {"inversion", inversion::run, "resize preview", "check"},
    {"large_frame", large_frame::run, "planted::large_frame::unpack", "check"},
    {"lost_wake", lost_wake::run, "wait for delivery", "check"},
    {"periodic", periodic::run, "collect garbage", "check"},
    {"ping_pong", ping_pong::run, "check word", "check"},
    {"polling", polling::run, "wait for job", "check"},
    {"stampede", stampede::run, "cache.fill", "check"},
    {"time_outs", time_outs::run, "quote time-out", "check"},
    {"healthy_waits", healthy_waits::run, ""},
    {"healthy_pool", healthy_pool::run, ""},
    {"healthy_children", healthy_children::run, ""},
    {"healthy_cache", healthy_cache::run, "", "check"},
    {"healthy_deadlines", healthy_deadlines::run, "", "check"},
    {"healthy_future", healthy_future::run, "", "check"},
    {"healthy_mixed", healthy_mixed::run, "", "check"},
    {"healthy_shutdown", healthy_shutdown::run, "", "check"},
};

void print(const program& of) {
    std::string line(of.name);
    line.append("\t").append(of.place).append("\t").append(of.command);
    std::puts(line.c_str());
}

void fill_trace(const std::stop_token& stop) {
    constexpr int burst = 200;
    while (!stop.stop_requested()) {
        for (int scope = 0; scope < burst; ++scope) {
            COROSCOPE("fill the trace");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        for (const program& each : programs) print(each);
        return 0;
    }
    for (const program& each : programs) {
        if (each.name != argv[1]) continue;
        std::jthread filling;
        if (argc > 2) filling = std::jthread(fill_trace);
        each.run();
        return 0;
    }
    return 2;
}
