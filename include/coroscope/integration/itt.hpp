// SPDX-License-Identifier: Apache-2.0
#pragma once

// emit_itt: shows scopes to a collector that understands ITT (VTune), which INTEL_LIBITTNOTIFY64 names, in the domain
// "coroscope" and by their names alone.
//
//   coroscope::emit_itt emit;
//
// A scope on the stack is a task of its thread. What may end on another thread (a range, a scope in a coroutine's frame)
// is an overlapped task.
//
// Coroscope needs ITT's header and library when it is built, and message() says where it had none. Programs need
// nothing.

#include <coroscope/integration/emitter.hpp>

namespace coroscope {

namespace detail {
COROSCOPE_API const emitter_kind& itt_emitter() noexcept;
}

class [[nodiscard]] emit_itt final : public emitter {
public:
    explicit emit_itt(const emit_options& options = {}) noexcept
        : emitter(detail::itt_emitter(), options) {}
};

}  // namespace coroscope
