// SPDX-License-Identifier: Apache-2.0

// Packed traces: their size, and the rates of packing and unpacking. Rates are of unpacked bytes.

#include <string>
#include <string_view>

#include <coroscope/coroscope.hpp>
#include <coroscope/trace/pack.hpp>
#include <coroscope/trace/reader.hpp>

#include "harness.hpp"
#include "once.hpp"
#include "whole_traces.hpp"

namespace bench {
namespace {

constexpr std::uint64_t scopes = 1'000'000;

// The duration of the work varies. Without work, all records of the loop would have nearly the same
// words, and packing would shrink them to almost nothing.
std::uint64_t work(std::uint64_t random) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    for (std::uint64_t left = random % 256; left != 0; --left) clobber();
    return random;
}

// Records five scopes: "request" encloses one "parse" and three "row".
std::uint64_t request(std::uint64_t random) {
    COROSCOPE("request");
    {
        COROSCOPE("parse");
        random = work(random);
    }
    for (int row = 0; row < 3; ++row) {
        COROSCOPE("row");
        random = work(random);
    }
    return random;
}

coroscope::trace::buffer uneven_trace() {
    constexpr std::uint64_t scopes_per_request = 5;
    coroscope::profile session{{.all_threads = true, .policy = coroscope::overflow::wait}};
    std::uint64_t random = 1;
    for (std::uint64_t done = 0; done < scopes; done += scopes_per_request)
        random = request(random);
    return session.stop();
}

coroscope::trace::buffer packed(const coroscope::trace::buffer& whole) {
    std::string bytes;
    const auto done = coroscope::trace::pack(whole, [&bytes](std::string_view part) {
        bytes.append(part);
        return true;
    });
    if (!done) return {};
    return coroscope::trace::buffer::copy(bytes.data(), bytes.size());
}

once_result pack_size() {
    const auto whole = uneven_trace();
    const auto small = packed(whole);
    const auto each = [](std::size_t bytes) {
        return static_cast<double>(bytes) / static_cast<double>(scopes);
    };
    return {each(small.size()), each(whole.size()), small.empty() ? "it was not packed" : ""};
}

once_result pack_write() {
    const auto whole = uneven_trace();
    bool written = false;
    const double value = rate(whole.size(), [&] { written = !packed(whole).empty(); });
    return {value, {}, written ? "" : "it was not packed"};
}

once_result pack_read() {
    const auto whole = uneven_trace();
    const auto small = packed(whole);
    bool read = false;
    const double value = rate(whole.size(), [&] {
        const auto reader = coroscope::trace::reader::open(small);
        read = reader && reader->size() == whole.size() && reader->warnings().empty();
    });
    return {value, {}, read ? "" : "it was not read whole"};
}

}  // namespace

std::vector<once_row> pack_rows() {
    return {
        {"pack.bytes_per_scope", "B", pack_size},
        {"pack.write", "MB/s", pack_write},
        {"pack.read", "MB/s", pack_read},
    };
}

}  // namespace bench
