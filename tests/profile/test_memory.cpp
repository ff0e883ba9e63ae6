// SPDX-License-Identifier: Apache-2.0

// The reports of allocators while a session asks for them: a std::pmr resource, the program's own
// allocator, and operator new and delete, which this program's hook replaces.

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/memory_resource.hpp>

#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// The records of one address, in order.
std::vector<analysis::memory_event> at(const recorded& found, const void* address) {
    std::vector<analysis::memory_event> events;
    for (const analysis::memory_event& each : found.trace.memory)
        if (each.address == reinterpret_cast<std::uintptr_t>(address)) events.push_back(each);
    return events;
}

std::int64_t net(const recorded& found) {
    std::int64_t sum = 0;
    for (const analysis::memory_event& each : found.trace.memory)
        if (!each.out_of_memory) sum += each.bytes;
    return sum;
}

struct exhausted final : std::pmr::memory_resource {
    void* do_allocate(std::size_t, std::size_t) override { throw std::bad_alloc(); }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }
};

}  // namespace

TEST_SUITE("memory_resource") {
    TEST_CASE("allocations and releases are recorded with address, bytes and running totals") {
        memory_resource reporting;
        recording session({.profile_memory = true});
        void* first = reporting.allocate(100);
        void* second = reporting.allocate(28);
        reporting.deallocate(first, 100);
        const recorded found = session.stop();
        const auto of_first = at(found, first), of_second = at(found, second);
        REQUIRE(of_first.size() >= 2);
        const auto told = std::find_if(of_first.begin(), of_first.end(), [](const auto& each) {
            return each.bytes == 100 && each.total_allocated == 100;
        });
        CHECK(told != of_first.end());
        CHECK(std::any_of(of_first.begin(), of_first.end(), [](const auto& each) {
            return each.bytes == -100 && each.total_allocated == 28;
        }));
        CHECK(std::any_of(of_second.begin(), of_second.end(), [](const auto& each) {
            return each.bytes == 28 && each.total_allocated == 128;
        }));
        CHECK(reporting.allocated() == 28);
        reporting.deallocate(second, 28);
        CHECK(reporting.allocated() == 0);
    }

    TEST_CASE("a failed allocation is recorded, and the exception is the one of the resource") {
        exhausted nothing;
        memory_resource reporting(&nothing);
        recording session({.profile_memory = true});
        CHECK_THROWS_AS(static_cast<void>(reporting.allocate(4096)), std::bad_alloc);
        const recorded found = session.stop();
        const auto failed = std::count_if(
            found.trace.memory.begin(), found.trace.memory.end(),
            [](const auto& each) { return each.out_of_memory && each.bytes == 4096; });
        CHECK(failed == 1);
        CHECK(reporting.allocated() == 0);
    }

    TEST_CASE("a session that does not ask for memory records none") {
        memory_resource reporting;
        recording session(profile_options{});
        reporting.deallocate(reporting.allocate(8), 8);
        ::operator delete(::operator new(8));
        CHECK(session.stop().trace.memory.empty());
    }

    TEST_CASE("a program's own allocator may report with totals of its own") {
        recording session({.profile_memory = true});
        const int block = 0;
        report_allocation(&block, 64, {64, 4096});
        report_release(&block, 64, {0, 4096});
        report_out_of_memory(1 << 30, {0, 4096});
        const recorded found = session.stop();
        const auto told = at(found, &block);
        REQUIRE(told.size() == 2);
        CHECK(told[0].total_reserved == 4096);
        CHECK(told[1].bytes == -64);
        CHECK(told[0].time_ns <= told[1].time_ns);
    }
}

TEST_SUITE("the operator new hook") {
    TEST_CASE("every form of new and delete is recorded, and each release has the size of its "
              "allocation") {
        struct alignas(64) wide {
            char bytes[128];
        };
        recording session({.profile_memory = true});
        auto* plain = new int(1);
        auto* array = new long[10];
        auto* aligned = new wide;
        auto* quiet = new (std::nothrow) char[7];
        CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 64 == 0);
        const void* addresses[] = {plain, array, aligned, quiet};
        delete plain;
        delete[] array;
        delete aligned;
        delete[] quiet;
        const recorded found = session.stop();
        for (const void* address : addresses) {
            const auto told = at(found, address);
            REQUIRE(told.size() >= 2);
            CHECK(told[0].bytes > 0);
            CHECK(told[0].bytes == -told[1].bytes);
        }
    }

    TEST_CASE("freed containers add up to zero, and the remaining memory is the difference") {
        recording session({.profile_memory = true});
        {
            std::vector<std::string> gone(100, std::string(100, 'x'));
        }
        auto stays = std::make_unique<char[]>(5000);
        [[maybe_unused]] char* const volatile seen =
            stays.get();  // else clang removes the allocation
        const recorded found = session.stop();
        CHECK(net(found) >= 5000);
        CHECK(net(found) < 6000);
        CHECK(found.trace.memory.size() > 200);
    }

    TEST_CASE("the recorder's own memory for new threads and labels is not recorded") {
        profile session({.all_threads = true, .profile_memory = true});
        for (int thread = 0; thread < 3; ++thread)
            std::thread([] { COROSCOPE("in a new thread"); }).join();
        const recorded found = load(session.stop());
        for (const analysis::event& each : found.trace.events) {
            const auto inside = std::count_if(
                found.trace.memory.begin(), found.trace.memory.end(), [&each](const auto& told) {
                    return told.thread == each.thread && told.time_ns >= each.start_ns &&
                           told.time_ns <= each.end_ns;
                });
            CHECK(inside == 0);
        }
        CHECK(found.count("in a new thread") == 3);
    }

    TEST_CASE("a failed allocation is recorded, and new throws or returns null") {
        recording session({.profile_memory = true});
        volatile std::size_t too_much = std::size_t{1} << 60;
        CHECK_THROWS_AS(static_cast<void>(::operator new(too_much)), std::bad_alloc);
        CHECK(::operator new(too_much, std::nothrow) == nullptr);
        const recorded found = session.stop();
        const auto failed = std::count_if(found.trace.memory.begin(), found.trace.memory.end(),
                                          [](const auto& each) { return each.out_of_memory; });
        CHECK(failed == 2);
    }

    TEST_CASE("threads that allocate at once lose nothing") {
        profile session({.all_threads = true, .profile_memory = true});
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 3; ++thread)
            threads.emplace_back([] {
                for (int round = 0; round < 500; ++round) ::operator delete(::operator new(8));
            });
        for (std::thread& thread : threads) thread.join();
        const recorded found = load(session.stop());
        CHECK(found.trace.memory.size() >= 3000);
    }
}
