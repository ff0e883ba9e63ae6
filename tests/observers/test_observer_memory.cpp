// SPDX-License-Identifier: Apache-2.0

// The allocations for an observed scope, in a separate program whose operator new counts.

#include <coroscope/coroscope.hpp>

#include <cstddef>
#include <cstdlib>
#include <deque>
#include <new>

#include <doctest/doctest.h>

#include "observing.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

thread_local long allocations = 0;

void* counted(std::size_t bytes) noexcept {
    ++allocations;
    return std::malloc(bytes == 0 ? 1 : bytes);
}

void nested_scopes() {
    COROSCOPE("outer");
    {
        COROSCOPE("middle");
        {
            COROSCOPE("inner");
        }
    }
}

long allocations_of_a_repetition() {
    nested_scopes();
    const long before = allocations;
    nested_scopes();
    return allocations - before;
}

}  // namespace

void* operator new(std::size_t bytes) {
    void* memory = counted(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

TEST_CASE("scopes that were observed once are observed again without an allocation, by any number "
          "of observers") {
    std::deque<registered> observers;
    for (int count = 1; count <= 9; ++count) {
        observers.emplace_back(add_global_observer(observer([](const scope_info&) {})));
        CHECK(allocations_of_a_repetition() == 0);
    }
    while (!observers.empty()) {
        observers.pop_back();
        CHECK(allocations_of_a_repetition() == 0);
    }
}
