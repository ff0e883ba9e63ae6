// SPDX-License-Identifier: Apache-2.0
#pragma once

// The title of a function, from its signature as g++ or clang spells it
// (std::source_location::function_name()): the qualified name with the arguments of its templates,
// without result, parameters and anonymous namespaces.
//
//     "void app::Box<T>::put(U) [with U = double; T = int]"       app::Box<int>::put<double>
//     "void app::Box<int>::put(U) [T = int, U = double]"          app::Box<int>::put<double>
//     "main()::<lambda(auto:1)> [with auto:1 = int]"              main::{lambda:12}<int>
//     "auto main()::(anonymous class)::operator()(auto) const …"  main::{lambda:12}<int>
//     "void app::f(f<int>()::_ZN3app….Frame*)"    (a coroutine)   app::f<int>
//
// Two functions may have one title: overloads, lambdas on one line, equal names in two anonymous
// namespaces.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "signature_text.hpp"

namespace coroscope::runtime::inline writer {

/// Makes titles. It has its own memory, because stacks of fibers are small. Not thread-safe. Never
/// fails: the title of a signature that it does not understand is the signature itself.
class function_title {
public:
    /// Returns the title, of at most trace::payload_limit bytes. It is valid until the next call.
    /// `line` is the number in the name of a lambda; 0: no number.
    std::string_view make(std::string_view signature, std::uint32_t line) noexcept;

private:
    void write_parts(std::uint32_t line) noexcept;
    void write_part(const signature_part& part, bool is_last, std::uint32_t line) noexcept;
    void write_name(std::string_view name) noexcept;
    void write_arguments(const signature_part& part, bool is_last) noexcept;
    void write_bound_arguments() noexcept;
    template_bindings* list_for_names() noexcept;
    [[nodiscard]] std::string_view arguments_of_frame(const signature_part& last) noexcept;

    signature_path path_;
    signature_path frame_;
    template_bindings bindings_;
    bounded_text out_;
};

}  // namespace coroscope::runtime::inline writer
