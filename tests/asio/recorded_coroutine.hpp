// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records one coroutine on its own io_context.

#include "asio_library.hpp"
#include "recording.hpp"

/// `coroutine` returns the awaitable. The returned trace is complete, and its times add up.
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
