// SPDX-License-Identifier: Apache-2.0
#pragma once

// emit_usdt: static probes of provider "coroscope", for bpftrace, perf, SystemTap and gdb. They stand in the
// library, and are reached while an emit_usdt is on, or in the whole process with COROSCOPE_USDT=1:
//
//   probe          arguments
//   scope__begin   name (char*), kind (scope_kind), thread, task
//   scope__end     the same
//   task__spawn    task, parent, name of the coroutine, fiber or job (char*; "" where it is unknown)
//   task__resume   task
//   task__suspend  task, label of the await (char*; "" where it is unknown)
//   task__finish   task
//
//   bpftrace -e 'usdt:/usr/lib/libcoroscope.so:coroscope:scope__begin { @[str(arg0)] = count(); }' -p PID
//
// Each has a semaphore: one that nobody is attached to costs a scope a few instructions of looking, and nothing at all
// where emit_usdt is off. All threads are shown. It goes beside sessions and other observers.

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
