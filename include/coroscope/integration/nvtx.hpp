// SPDX-License-Identifier: Apache-2.0
#pragma once

// emit_nvtx: shows scopes to a tool that understands NVTX (Nsight Systems), in the domain "coroscope".
//
//   coroscope::emit_nvtx emit{{.record_shapes = true}};
//
// A scope on the stack is pushed and popped. What may end on another thread (a range, a scope in a coroutine's frame)
// is started and ended. The text is the scope's name; ", seq = N" where it has a place in a sequence; with
// record_shapes also ", op_id = N", ", sizes = [[2, 3], []]" and ", input_op_ids = [(1,0), (0,-1)]": for each input
// the operation that gave it as an output, and as which one; (0,-1) is unknown, as may be what 65,536 other outputs have
// followed.
//
// A range has its site's category, a colour that follows from that (else from its name), and the task's id as payload.
//
// With `.tasks = true` each task that is spawned meanwhile is shown, too, in the category "task": from its spawn to its
// end as a range of its own, which crosses threads, and while it runs as a pushed range of the thread that runs it. Both bear
// the name of its spawn site. What is shown when the emitter stops ends there.
//
// Coroscope needs NVTX's headers when it is built, and message() says where it had none. Programs need nothing.

#include <coroscope/integration/emitter.hpp>

namespace coroscope {

namespace detail {
COROSCOPE_API const emitter_kind& nvtx_emitter() noexcept;
}

class [[nodiscard]] emit_nvtx final : public emitter {
public:
    explicit emit_nvtx(const emit_options& options = {}) noexcept
        : emitter(detail::nvtx_emitter(), options) {}
};

}  // namespace coroscope
