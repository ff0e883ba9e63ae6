// SPDX-License-Identifier: Apache-2.0

// A trace for tests that damage it, and ways to damage a trace.

#include "trace_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace coroscope::test {

trace::buffer truncated(const std::vector<unsigned char>& bytes, std::size_t size) {
    return trace::buffer::copy(bytes.data(), std::min(size, bytes.size()));
}

trace::buffer flipped(const std::vector<unsigned char>& bytes, std::size_t bit) {
    std::vector<unsigned char> changed = bytes;
    changed[bit / 8] = static_cast<unsigned char>(changed[bit / 8] ^ (1U << (bit % 8)));
    return trace::buffer::copy(changed.data(), changed.size());
}

std::vector<std::size_t> bits_to_flip(const std::vector<unsigned char>& bytes, std::size_t from) {
    constexpr std::size_t near = 64, word = 8;
    std::vector<std::size_t> bits;
    std::size_t written_end = 0;
    for (std::size_t at = from; at < bytes.size(); ++at) {
        if (bytes[at] != 0) written_end = at + 1;
        if (written_end != 0 && at < written_end + near)
            for (std::size_t bit = 0; bit < 8; ++bit) bits.push_back(at * 8 + bit);
        else if (at % word == at / word % word)
            bits.push_back(at * 8 + at / (word * word) % 8);
    }
    return bits;
}

trace_builder sample_trace() {
    trace_builder built;
    const auto function = built.site("", "handler.cpp", 10, trace::site_kind::function, "handle");
    const auto await = built.site("db.query", "handler.cpp", 12, trace::site_kind::await);
    const auto render =
        built.site("render", "handler.cpp", 14, trace::site_kind::scope, "handle", "view");
    const auto spawned = built.site("", "server.cpp", 30, trace::site_kind::coroutine, "serve");
    built.on(1)
        .spawn(100, 1, spawned, trace::spawn_started | trace::spawn_ready)
        .arguments(110, render, "rows=3")
        .scope(render, 110, 140)
        .device_wait(195, 1)
        .suspend(200, 1, await)
        .resume(400, 1)
        .scope(render, 410, 420)
        .long_scope(function, 105, 450, trace::scope_in_frame | trace::scope_exact, 1)
        .spawn(455, 2, spawned, 0, 1)
        .transfer(460, 1, 2, await)
        .finish_transfer(500, 2, 1)
        .suspend(510, 1, await)
        .cancel(515, 1)
        .context(520, 2, 1)
        .context(530, 1, 2)
        .note(540, trace::note_kind::inputs, "[[2]]\n[[1]]\n[\"int\"]\n[\"\"]")
        .note(540, trace::note_kind::stack, std::string(16, '\1'))
        .note(540, trace::note_kind::sequence, std::string(16, '\0'))
        .memory(545, trace::memory_event::allocated, 0x100, 64, 64, 64)
        .resource_wait(541, 546,
                       {.site = render,
                        .waiter = trace::make_mark(1, 1),
                        .holder = trace::make_mark(2, 2),
                        .released = 545})
        .scope(render, 540, 550)
        .finish(600, 1);
    built.on(2)
        .label(250, 1, "worker")
        .long_scope(1, 250, 300, trace::scope_dynamic)
        .wake(300, 1, 0, 2)
        .awaiting(310, 1, 2);
    built.device_name(0, "a device");
    built.on(2)
        .device({.start = 210, .end = 290, .site = render, .task = 1, .correlation = 5})
        .device_call(120, 130, 5);
    built.on(3).takes_over(2, 320).scope(render, 330, 340);
    built.open_scope(1, render, 610).open_scope(2, function, 320, 2, trace::scope_in_frame);
    built.module(0x1000, 0x200, "/bin/program", "build id");
    return built;
}

}  // namespace coroscope::test
