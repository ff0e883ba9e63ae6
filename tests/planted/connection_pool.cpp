// SPDX-License-Identifier: Apache-2.0

// The only connection is borrowed for a long export. Other requests wait for the connection.

#include "async_lock.hpp"
#include "programs.hpp"
#include "service.hpp"

namespace planted::connection_pool {
namespace {

awaitable<void> export_all(async_lock& connections) {
    COROSCOPE_REQUEST("GET /export");
    co_await connections.lock();
    {
        COROSCOPE("export query");
        co_await pause_for(30ms);
    }
    connections.unlock();
}

awaitable<void> query(async_lock& connections) {
    COROSCOPE_REQUEST("GET /row");
    co_await connections.lock();
    {
        COROSCOPE("row query");
        co_await pause_for(1ms);
    }
    connections.unlock();
}

awaitable<void> answer(int number, async_lock& connections) {
    return number == 10 || number == 30 ? export_all(connections) : query(connections);
}

}  // namespace

void run() {
    asio::io_context io;
    async_lock connections(io, "db.connections", coroscope::resource_kind::pool);
    serve(io, [&](int number) { return answer(number, connections); });
}

}  // namespace planted::connection_pool
