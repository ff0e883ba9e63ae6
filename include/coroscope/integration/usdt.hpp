// SPDX-License-Identifier: Apache-2.0
#pragma once

// emit_usdt: static probes of provider "coroscope", for bpftrace, perf, SystemTap and gdb. The
// probes are in the library. They fire while an emit_usdt is on, or in the whole process with
// COROSCOPE_USDT=1:
//
//   probe          arguments
//   scope__begin   name (char*), kind (scope_kind), thread, task
//   scope__end     the same
//   task__spawn    task, parent, name of the coroutine, fiber or job (char*; "" if unknown)
//   task__resume   task
//   task__suspend  task, label of the await (char*; "" if unknown)
//   task__finish   task
//
//   probe=usdt:/usr/lib/libcoroscope.so:coroscope:scope__begin
//   bpftrace -e "$probe { @[str(arg0)] = count(); }" -p PID
//
// Each probe has a semaphore. A probe without an attached tool costs a scope a few instructions,
// and nothing while emit_usdt is off. All threads are shown. An emit_usdt does not exclude sessions
// or other observers.

#include <coroscope/integration/emitter.hpp>

namespace coroscope {

namespace detail {
COROSCOPE_API const emitter_kind& usdt_emitter() noexcept;
}

class [[nodiscard]] emit_usdt final : public emitter {
public:
    emit_usdt() noexcept : emitter(detail::usdt_emitter(), {.all_threads = true}) {}
};

}  // namespace coroscope
