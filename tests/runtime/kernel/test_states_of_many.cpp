// SPDX-License-Identifier: Apache-2.0

// The states of many threads cost no descriptor and no locked memory per thread.

#include <coroscope/profile.hpp>
#include <coroscope/record_function.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include "../../support/skip.hpp"
#include "../support/scale.hpp"
#include "kernel_facts.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kept_files = 64;  // open files of the threads whose sums are read often
constexpr std::size_t slack = 16;       // files that are open for a moment

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Returns the number of descriptors of the watcher; nothing if there is no watcher.
std::optional<std::size_t> descriptors_of_watcher() {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        if (text_of(task.path() / "comm") != "coroscope-kern\n") continue;
        const std::filesystem::directory_iterator all(task.path() / "fd");
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
    return {};
}

/// Returns the locked memory in kilobytes: the kernel's rings, and other locked memory.
std::uint64_t locked_kilobytes() {
    std::uint64_t sum = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("[perf_event]") == std::string::npos) continue;
        const std::size_t dash = line.find('-');
        sum += (std::stoull(line.substr(dash + 1), nullptr, 16) -
                std::stoull(line.substr(0, dash), nullptr, 16)) >>
               10;
    }
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::uint64_t kilobytes = 0;
        if ((word == "VmLck:" || word == "VmPin:") && status >> kilobytes) sum += kilobytes;
    }
    return sum;
}

/// Threads that record, wait and leave their processors again and again, until the end of the block.
class many_threads {
public:
    explicit many_threads(std::size_t count) {
        pthread_attr_t attributes;
        ::pthread_attr_init(&attributes);
        ::pthread_attr_setstacksize(&attributes, std::size_t{1} << 20);
        threads_.reserve(count);
        for (pthread_t thread{}; threads_.size() < count; threads_.push_back(thread))
            if (::pthread_create(&thread, &attributes, run, this) != 0) break;
        ::pthread_attr_destroy(&attributes);
        while (started_ < threads_.size()) std::this_thread::sleep_for(1ms);
    }
    many_threads(const many_threads&) = delete;
    many_threads& operator=(const many_threads&) = delete;
    ~many_threads() {
        stop_ = true;
        stop_.notify_all();
        for (const pthread_t thread : threads_) ::pthread_join(thread, nullptr);
    }
    [[nodiscard]] std::size_t size() const { return threads_.size(); }

private:
    static void* run(void* given) {
        auto& self = *static_cast<many_threads*>(given);
        {
            const record_function recorded("of many");
            std::this_thread::sleep_for(1ms);
        }
        ++self.started_;
        self.stop_.wait(false);
        return nullptr;
    }

    std::vector<pthread_t> threads_;
    std::atomic<std::size_t> started_{0};
    std::atomic<bool> stop_{false};
};

/// The costs of a session with many threads.
struct cost_of_many {
    std::size_t planned = 0, made = 0;
    std::size_t descriptors = 0, most_descriptors = 0;
    std::uint64_t locked = 0, locked_before = 0;  // kilobytes
    kernel_facts facts;

    [[nodiscard]] bool is_cheap() const {
        return descriptors <= most_descriptors && locked == locked_before;
    }
    [[nodiscard]] bool is_complete() const {
        const bool by_switches = facts.source() == trace::thread_state_source::switches;
        return !by_switches || !facts.lost.empty() || created() >= made;
    }

private:
    [[nodiscard]] std::size_t created() const {
        return static_cast<std::size_t>(std::ranges::count_if(facts.switches, [](const auto& each) {
            return std::ranges::any_of(each.second, &switch_fact::created);
        }));
    }
};

/// Nothing if no thread watches the others.
std::optional<cost_of_many> record_many() {
    profile session({.all_threads = true});
    const std::optional<std::size_t> first = descriptors_of_watcher();
    if (!first) return {};
    cost_of_many found;
    found.locked_before = locked_kilobytes();
    found.most_descriptors = *first + kept_files + slack;
    const std::size_t least = found.most_descriptors + 200;
    found.planned = sized<std::size_t>(least, std::max<std::size_t>(least, 10'000));
    {
        const many_threads threads(found.planned);
        found.made = threads.size();
        std::this_thread::sleep_for(100ms);
        found.descriptors = descriptors_of_watcher().value_or(found.planned);
        found.locked = locked_kilobytes();
    }
    found.facts = facts_of(session.stop());
    return found;
}

/// On a busy machine the watcher may start after the threads, and follows each of them itself. So
/// this records again until the cost is as it should be, at most ten times.
std::optional<cost_of_many> record_many_in_time() {
    std::optional<cost_of_many> found = record_many();
    for (int tries = 1; tries < 10 && found && !(found->is_cheap() && found->is_complete());
         ++tries)
        found = record_many();
    return found;
}

}  // namespace

TEST_SUITE("thread states") {
    TEST_CASE("descriptors and locked memory do not grow with the threads") {
        const std::optional<cost_of_many> found = record_many_in_time();
        if (!found) {
            COROSCOPE_SKIP("no thread watches the others here");
            return;
        }
        CHECK(found->descriptors <= found->most_descriptors);
        CHECK(found->locked == found->locked_before);
        if (found->made < found->planned) {
            COROSCOPE_SKIP("the system grants fewer threads: " + std::to_string(found->made));
            return;
        }
        MESSAGE(found->made << " threads, " << found->descriptors << " descriptors, at most "
                            << found->most_descriptors << ", " << found->locked
                            << " KiB of locked memory");
        CHECK(found->is_complete());
        if (found->facts.source() == trace::thread_state_source::switches) CHECK(found->locked > 0);
    }
}
