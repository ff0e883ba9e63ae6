// SPDX-License-Identifier: Apache-2.0
#pragma once

// emit_nvtx: shows scopes to a tool that supports NVTX (Nsight Systems), in the domain "coroscope".
//
//   coroscope::emit_nvtx emit{{.record_shapes = true}};
//
// A scope on the stack is pushed and popped. A scope that may end on another thread (a range, a
// scope in a coroutine's frame) is started and ended. The text is the scope's name, and ", seq = N"
// if it has a place in a sequence. With record_shapes it also has ", op_id = N", ", sizes = [[2,
// 3], []]" and ", input_op_ids = [(1,0), (0,-1)]": for each input, the operation that produced it
// and the index of that output. (0,-1) is unknown; an output may become unknown after 65,536 later
// outputs.
//
// A range has its site's category, a colour that follows from the category (else from its name),
// and the task's id as payload.
//
// With `.tasks = true` each newly spawned task is shown, too, in the category "task". It is a range
// of its own from its spawn to its end, which crosses threads, and a pushed range of its thread
// while it runs. Both have the name of its spawn site. Everything that is still shown when the
// emitter stops ends then.
//
// Coroscope needs NVTX's headers at its own build; if it had none, message() says so. Programs need
// no headers.

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
