// SPDX-License-Identifier: Apache-2.0
#pragma once

// One coroutine on an io_context of its own, recorded.

#include "asio_library.hpp"
#include "recording.hpp"

/// `coroutine` makes the awaitable. All records are there when this returns, and add up.
template <class Coroutine>
analysis::trace record_coroutine(const Coroutine& coroutine) {
    analysis::trace loaded = record([&] {
        net::io_context io;
        net::co_spawn(io, coroutine(), net::detached);
        io.run();
    });
    check_all_add_up(loaded);
    return loaded;
}
