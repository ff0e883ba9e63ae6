// SPDX-License-Identifier: Apache-2.0
#pragma once

// module_guard: names the part of the program that works here (torch: with_modules). Guards nest into a path,
// "Encoder.Layer.Attention", which follows the work as attributes do.
//
//   coroscope::module_guard here("Attention");      // until the end of the block
//
// It acts where a session with profile_options::with_modules records, and else costs a test. The path is
// the attribute "module": `coroscope table F --group-by attr:module`. It has room for about a hundred
// bytes; what is longer is cut, and counted among the trace's truncated texts.

#include <cstddef>
#include <cstdint>

#include <coroscope/attribute.hpp>
#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/thread_state.hpp>

namespace coroscope {

/// The key of the attribute that holds the path.
inline constexpr const char* module_key = "module";

namespace detail {

/// As begin_attribute; 0 where no session asks for modules.
COROSCOPE_API std::uint32_t begin_module(const char* name, std::size_t size) noexcept;

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// Lives where an attribute may.
class [[nodiscard]] module_guard {
public:
    /// `name`: a C string or anything with data() and size(); copied.
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
