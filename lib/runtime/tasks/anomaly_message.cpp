// SPDX-License-Identifier: Apache-2.0
#include "anomaly_message.hpp"

#include "async_stack.hpp"

namespace coroscope::runtime::inline tasks {

namespace {

using builder = async_stack_builder;

}  // namespace

void write_message(text_writer& to, const anomaly& found) noexcept {
    const async_stack& stack = *found.stack;
    to.text("coroscope: task ").natural(stack[0].task);
    if (found.kind == anomaly_kind::result) {
        to.text(" gave an anomalous result");
    } else {
        to.text(" failed with ").text(*found.type == '\0' ? "an exception" : found.type);
        if (*found.what != '\0') to.text(": ").text(found.what);
    }
    builder::write_place(to.text("\n  spawned: "), stack[0].spawn);
    if (*stack[0].await.label != '\0')
        builder::write_place(to.text("; last await: "), stack[0].await);
    for (std::size_t index = 1; index < stack.size(); ++index) {
        const async_frame& frame = stack[index];
        to.text("\n  induced by task ").natural(frame.task);
        if (frame.state == async_state::unknown) {
            to.text(", of which nothing is known any more");
            continue;
        }
        builder::write_place(to.text(", spawned: "), frame.spawn);
        if (frame.state == async_state::suspended)
            builder::write_place(to.text("; awaits: "), frame.await);
    }
    if (stack.cut() != 0) to.text("\n  and by ").natural(stack.cut()).text(" more");
    to.text("\n");
}

}  // namespace coroscope::runtime::inline tasks
