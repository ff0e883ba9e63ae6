// SPDX-License-Identifier: Apache-2.0

// A thousand scopes, each in a function of its own, one after the other, once per burst: the code
// of each and the data of its site must come from the caches. Between two bursts other code runs.

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <coroscope/macro.hpp>

#include "harness.hpp"

namespace bench {
namespace {

constexpr std::size_t sites = 1'000;

template <std::size_t Number>
[[gnu::noinline]] void scope_of() {
    COROSCOPE("site");
    clobber();
}

template <std::size_t Number>
[[gnu::noinline]] void reads_of() {
    const std::uint64_t start = counter_ticks();
    clobber();
    keep(counter_ticks() - start + Number);
}

using functions = std::array<void (*)(), sites>;

// The numbers of the functions in an order that no prefetcher predicts.
consteval std::array<std::size_t, sites> shuffled() {
    std::array<std::size_t, sites> order{};
    for (std::size_t each = 0; each < sites; ++each) order[each] = each;
    std::uint64_t state = 7;
    for (std::size_t left = sites; left > 1; --left) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        std::swap(order[left - 1], order[(state >> 33) % left]);
    }
    return order;
}
constexpr std::array<std::size_t, sites> order = shuffled();

template <std::size_t... At>
constexpr functions scopes_in_turn(std::index_sequence<At...>) {
    return {scope_of<order[At]>...};
}
template <std::size_t... At>
constexpr functions reads_in_turn(std::index_sequence<At...>) {
    return {reads_of<order[At]>...};
}
constinit const functions scopes = scopes_in_turn(std::make_index_sequence<sites>());
constinit const functions reads = reads_in_turn(std::make_index_sequence<sites>());

void call_all(const functions& all) {
    for (void (*const each)() : all) each();
}

std::uint64_t in_turn(const functions& all, std::uint64_t operations) {
    return timed([&] {
        for (std::uint64_t round = 0; round < operations / sites; ++round) call_all(all);
    });
}

// Reads more memory than the caches hold.
void empty_caches() {
    static const std::vector<char> memory(std::size_t{96} << 20, 1);
    constexpr std::size_t line = 64;
    char sum = 0;
    for (std::size_t at = 0; at < memory.size(); at += line)
        sum = static_cast<char>(sum + memory[at]);
    keep(sum);
}

std::uint64_t cold(const functions& all, std::uint64_t operations) {
    empty_caches();
    return in_turn(all, operations);
}

std::uint64_t warm_scopes(std::uint64_t operations) { return in_turn(scopes, operations); }
std::uint64_t warm_reads(std::uint64_t operations) { return in_turn(reads, operations); }
std::uint64_t cold_scopes(std::uint64_t operations) { return cold(scopes, operations); }
std::uint64_t cold_reads(std::uint64_t operations) { return cold(reads, operations); }

}  // namespace

std::vector<row> site_rows() {
    return {
        {"scope.sites.warm", warm_scopes, warm_reads, warm_reads, session_trace::open, 1, sites},
        {"scope.sites.cold", cold_scopes, cold_reads, cold_reads, session_trace::open, 1, sites},
    };
}

}  // namespace bench
