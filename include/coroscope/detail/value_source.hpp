// SPDX-License-Identifier: Apache-2.0
#pragma once

// The values that an instrumented block offers to observers that need inputs or outputs: as text,
// as shapes, and as the addresses that identify them. Nothing is evaluated before an observer asks.

#include <concepts>
#include <type_traits>

#include <coroscope/arguments.hpp>
#include <coroscope/shapes.hpp>

namespace coroscope::detail {

/// The addresses of the values' elements, in order; null for a value without elements. Those beyond
/// `room` are left out.
struct value_addresses {
    static constexpr unsigned room = 16;
    const void* of[room];
    unsigned count = 0;
    void add(const void* address) noexcept {
        if (count < room) of[count++] = address;
    }
};

/// Each function must write all of the values.
struct value_source {
    void (*write)(argument_writer& to, const void* values) noexcept;
    void (*write_shapes)(shape_writer& to, const void* values) noexcept;
    void (*find)(value_addresses& to, const void* values) noexcept;
    const void* values;
};

template <class T>
const void* address_of_elements(const T& value) noexcept {
    if constexpr (text_like<T> || std::is_convertible_v<T, const char*>) {
        return nullptr;
    } else if constexpr (std::is_convertible_v<T, const void*>) {
        return value;
    } else if constexpr (requires {
                             { value.data() } -> std::convertible_to<const void*>;
                         }) {
        return value.data();
    } else {
        return nullptr;
    }
}

/// Calls `use` with a source of these values. `values` visits each with a callable of the functions
/// below.
template <class Use, class... Arguments>
void with_values(const Use& use, const Arguments&... arguments) noexcept {
    const auto all = [&](const auto& visit) noexcept { visit(arguments...); };
    using visitor = decltype(all);
    use(value_source{
        [](argument_writer& to, const void* values) noexcept {
            (*static_cast<const visitor*>(values))(
                [&to](const auto&... each) noexcept { detail::write_arguments(to, each...); });
        },
        [](shape_writer& to, const void* values) noexcept {
            (*static_cast<const visitor*>(values))(
                [&to](const auto&... each) noexcept { (detail::write_shape(to, each), ...); });
        },
        [](value_addresses& to, const void* values) noexcept {
            (*static_cast<const visitor*>(values))([&to](const auto&... each) noexcept {
                (to.add(detail::address_of_elements(each)), ...);
            });
        },
        &all,
    });
}

}  // namespace coroscope::detail
