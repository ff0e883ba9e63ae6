// SPDX-License-Identifier: Apache-2.0
#pragma once

// emit_itt: shows scopes, by their names alone, to a collector that supports ITT (VTune).
// INTEL_LIBITTNOTIFY64 must name the collector. The domain is "coroscope".
//
//   coroscope::emit_itt emit;
//
// A scope on the stack is a task of its thread. A scope that may end on another thread (a range, a
// scope in a coroutine's frame) is an overlapped task.
//
// Coroscope needs ITT's header and library at its own build; if it had none, message() says so.
// Programs need neither.

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
