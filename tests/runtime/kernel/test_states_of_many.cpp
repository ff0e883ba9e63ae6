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

}  // namespace

TEST_SUITE("thread states") {
    TEST_CASE("descriptors and locked memory do not grow with the threads") {
        profile session({.all_threads = true});
        const std::optional<std::size_t> first = descriptors_of_watcher();
        if (!first) {
            session.stop();
            COROSCOPE_SKIP("no thread watches the others here");
            return;
        }
        const std::uint64_t locked = locked_kilobytes();
        const std::size_t most = *first + kept_files + slack;
        const auto planned =
            sized<std::size_t>(most + 200, std::max<std::size_t>(most + 200, 10'000));
        std::size_t made = 0;
        {
            const many_threads threads(planned);
            made = threads.size();
            std::this_thread::sleep_for(100ms);
            CHECK(descriptors_of_watcher().value_or(planned) <= most);
            CHECK(locked_kilobytes() == locked);
        }
        const kernel_facts facts = facts_of(session.stop());
        if (made < planned) {
            COROSCOPE_SKIP("the system grants fewer threads: " + std::to_string(made));
            return;
        }
        MESSAGE(made << " threads, " << *first << " descriptors at the start, at most " << most
                     << ", " << locked << " KiB of locked memory");
        if (facts.source() != trace::thread_state_source::switches) return;
        CHECK(locked > 0);
        if (!facts.lost.empty()) return;
        const auto created = std::ranges::count_if(facts.switches, [](const auto& thread) {
            return std::ranges::any_of(thread.second, &switch_fact::created);
        });
        CHECK(static_cast<std::size_t>(created) >= planned);
    }
}
