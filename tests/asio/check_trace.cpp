// SPDX-License-Identifier: Apache-2.0

// check_trace TRACE: checks the trace of a program that uses Asio. Prints for each site how many
// tasks it spawned and how many awaits it has ("spawned 3 socket.async_accept", "awaited …"). Exits
// with 1, and prints a line for each problem, if records were lost, a task lost its thread or its
// times do not add up.

#include <cstdio>
#include <map>
#include <string>

#include <coroscope/analysis/analysis.hpp>

namespace analysis = coroscope::analysis;

namespace {

int problems = 0;

void complain(const analysis::task_info& task, const char* what) {
    std::fprintf(stderr, "task %llu: %s\n", static_cast<unsigned long long>(task.id), what);
    ++problems;
}

void check(const analysis::task_info& task) {
    if (task.losses) complain(task, "lost some of its records");
    if (task.state == analysis::task_state::running) complain(task, "never left its thread");
    if (task.first_wake_ns && task.end_ns &&
        task.time.wall_ns() != *task.end_ns - *task.first_wake_ns)
        complain(task, "its times do not add up");
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    const auto loaded = analysis::load(arguments[1]);
    if (!loaded) {
        std::fprintf(stderr, "%s: %s\n", arguments[1], loaded.error().message.c_str());
        return 1;
    }
    if (loaded->health.lost_records()) {
        std::fprintf(stderr, "records were lost\n");
        ++problems;
    }
    std::map<std::string, int> seen;
    const auto label = [&](std::uint32_t site) {
        return site == analysis::none ? std::string("?") : loaded->sites[site].label;
    };
    for (const analysis::task_info& task : loaded->tasks) {
        check(task);
        ++seen["spawned " + label(task.spawn_site)];
    }
    for (const analysis::await_info& await : loaded->awaits) ++seen["awaited " + label(await.site)];
    for (const auto& [what, times] : seen) std::printf("%d %s\n", times, what.c_str());
    return problems == 0 ? 0 : 1;
}
