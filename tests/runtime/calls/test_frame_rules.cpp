// SPDX-License-Identifier: Apache-2.0
#include <alloca.h>
#include <doctest/doctest.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "lib/runtime/calls/code_owner.hpp"
#include "lib/runtime/calls/frame_rules.hpp"

using coroscope::runtime::code_owner;
using coroscope::runtime::find_code_owner;
using coroscope::runtime::find_frame_rule;
using coroscope::runtime::frame_base;
using coroscope::runtime::frame_rule;

namespace {

using addresses = std::vector<std::uintptr_t>;

std::uintptr_t word_at(std::uintptr_t place) {
    return *reinterpret_cast<const volatile std::uintptr_t*>(place);
}

// The return addresses on the stack, as the unwinder of the C library finds them, and as the rules
// do.
struct walks {
    addresses expected;
    addresses found;
};

[[gnu::noinline]] void walk(walks& both) {
    std::array<void*, 64> calls{};
    const auto* const end_of_calls =
        calls.data() + backtrace(calls.data(), static_cast<int>(calls.size()));
    // A sanitizer's backtrace() begins with calls of its own.
    const auto* const first =
        std::find<void* const*, void*>(calls.data(), end_of_calls, __builtin_return_address(0));
    for (const auto* call = first; call != end_of_calls; ++call)
        both.expected.push_back(reinterpret_cast<std::uintptr_t>(*call));
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    std::uintptr_t end = frame + 16;
    std::uintptr_t pointer = word_at(frame);
    frame_rule rule;
    while (both.found.size() < both.expected.size()) {
        both.found.push_back(word_at(end - 8));
        if (!find_frame_rule(both.found.back(), rule)) break;
        const std::uintptr_t begin = rule.from == frame_base::stack_pointer ? end : pointer;
        end = begin + static_cast<std::uintptr_t>(rule.size);
        if (rule.saved != 0) pointer = word_at(end + static_cast<std::uintptr_t>(rule.saved));
    }
}

[[gnu::noinline]] int recurse(walks& both, int depth) {
    volatile char some[100];
    some[0] = 1;
    if (depth == 0)
        walk(both);
    else
        some[0] = static_cast<char>(recurse(both, depth - 1));
    return some[0];
}

[[gnu::noinline]] int allocate(walks& both, std::size_t bytes) {
    auto* const some = static_cast<volatile char*>(alloca(bytes));
    some[0] = static_cast<char>(recurse(both, 2));
    return some[0];
}

}  // namespace

#if defined(__x86_64__)

TEST_SUITE("frame rules") {
    TEST_CASE("a walk by the rules finds the calls that the C library's unwinder finds") {
        walks both;
        const std::function<void(int)> call = [&both](int bytes) {
            allocate(both, static_cast<std::size_t>(bytes));
        };
        for (const int bytes : {1, 100, 3000}) {
            both = {};
            call(bytes);
            REQUIRE(both.expected.size() > 6);
            REQUIRE(both.found.size() > 6);
            // The rules may end before the outermost functions.
            for (std::size_t at = 0; at < both.found.size(); ++at)
                CHECK(both.found[at] == both.expected[at]);
        }
    }

    TEST_CASE("there is no rule for an address without code") {
        frame_rule rule;
        int local = 0;
        CHECK_FALSE(find_frame_rule(0, rule));
        CHECK_FALSE(find_frame_rule(reinterpret_cast<std::uintptr_t>(&local), rule));
    }

    TEST_CASE("code of the program is distinguished from code of the standard library") {
        const auto own = reinterpret_cast<std::uintptr_t>(&allocate);
        const auto sort = reinterpret_cast<std::uintptr_t>(
            &std::sort<std::vector<double>::iterator, std::greater<>>);
        int local = 0;
        CHECK(find_code_owner(own + 1) != code_owner::library);
        CHECK(find_code_owner(sort + 1) != code_owner::program);
        CHECK(find_code_owner(reinterpret_cast<std::uintptr_t>(&local)) == code_owner::unknown);
    }
}

#endif
