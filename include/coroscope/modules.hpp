// SPDX-License-Identifier: Apache-2.0
#pragma once

// module_guard: names the part of the program that works here (torch: with_modules). Guards nest
// into a path, "Encoder.Layer.Attention", which follows the work as attributes do.
//
//   coroscope::module_guard here("Attention");      // until the end of the block
//
// A guard has an effect only while a session with profile_options::with_modules records; else it
// costs one test. The path is the attribute "module": `coroscope table F --group-by attr:module`.
// It has room for about a hundred bytes. A longer path is cut and counts among the trace's
// truncated texts.

#include <cstddef>
#include <cstdint>

#include <coroscope/attribute.hpp>
#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/thread_state.hpp>

namespace coroscope {

/// The key of the attribute for the path.
inline constexpr const char* module_key = "module";

namespace detail {

/// As begin_attribute; returns 0 if no session asks for modules.
COROSCOPE_API std::uint32_t begin_module(const char* name, std::size_t size) noexcept;

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// A guard must be used like an attribute: as a local variable, on the stack or in the frame of a
/// tracked coroutine.
class [[nodiscard]] module_guard {
public:
    /// `name` must be a C string or have data() and size(). It is copied.
    template <class Name>
    explicit module_guard(const Name& name) noexcept {
        if (COROSCOPE_ENABLED == 0 || !detail::is_recording()) [[likely]]
            return;
        if constexpr (std::is_convertible_v<const Name&, const char*>) {
            const char* text = name;
            handle_ = detail::begin_module(text, text == nullptr ? 0 : __builtin_strlen(text));
        } else {
            handle_ = detail::begin_module(name.data(), name.size());
        }
    }
    ~module_guard() {
        if (handle_ != 0) detail::end_attribute(handle_);
    }
    module_guard(const module_guard&) = delete;
    module_guard& operator=(const module_guard&) = delete;

private:
    std::uint32_t handle_ = 0;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
