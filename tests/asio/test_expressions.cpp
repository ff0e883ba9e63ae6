// SPDX-License-Identifier: Apache-2.0

// Several awaits in one expression. g++ takes the results of deferred operations after the last
// await.

#include <cstddef>
#include <cstdint>

#include "asio_library.hpp"
#include "napping.hpp"
#include "recording.hpp"

namespace {

using stream = net::local::stream_protocol::socket;

struct connection {
    explicit connection(net::io_context& io) : near(io), far(io) {
        net::local::connect_pair(near, far);
    }
    stream near, far;
};

// Sends two bytes on each connection, one after the other.
net::awaitable<void> sends(connection& first, connection& second) {
    for (connection* each : {&first, &second}) {
        co_await nap(1ms);
        net::write(each->far, net::buffer("12", 2));
    }
}

template <class Token>
net::awaitable<void> receives(connection& first, connection& second, Token token,
                              std::size_t& bytes) {
    const coroscope::attribute tenant("tenant", "acme");
    char into[2];
    bytes = co_await first.near.async_read_some(net::buffer(into), token) +
            co_await second.near.async_read_some(net::buffer(into), token);
    COROSCOPE("after both");
    co_await nap(1ms);
}

template <class Token>
void check_receiving(Token token) {
    std::size_t bytes = 0;
    const auto loaded = record([&] {
        net::io_context io;
        connection first(io);
        connection second(io);
        net::co_spawn(io, receives(first, second, token, bytes), net::detached);
        net::co_spawn(io, sends(first, second), net::detached);
        io.run();
    });
    CHECK(bytes == 4);
    check_all_add_up(loaded);
    const analysis::task_info& task = owner_of(loaded, "after both");
    CHECK(task.state == analysis::task_state::finished);
    CHECK(task.slices.size() == 4);
    REQUIRE(task.awaits.size() == 3);
    for (const std::size_t at : {0U, 1U}) {
        CHECK(loaded.awaits[task.awaits[at]].wake_ns.has_value());
        CHECK(loaded.awaits[task.awaits[at]].resume_ns.has_value());
    }
    const std::uint32_t tenant =
        analysis::attribute_value(loaded, scope_named(loaded, "after both").attribute, "tenant");
    REQUIRE(tenant != analysis::none);
    CHECK(loaded.strings[tenant] == "acme");
}

}  // namespace

TEST_CASE("operations that are awaited in one expression are separate awaits") {
    check_receiving(net::use_awaitable);
#if defined(COROSCOPE_TEST_ASIO_HAS_DEFERRED)
    check_receiving(net::deferred);
#endif
}
