// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an instrumented block hands over to observers that ask for inputs or outputs: its values as text, their
// shapes, and the addresses by which they are known again. Nothing is looked at before somebody asks.

#include <concepts>
#include <type_traits>

#include <coroscope/arguments.hpp>
#include <coroscope/shapes.hpp>

namespace coroscope::detail {

/// Where the values' elements are, in their order; null for what has none. Those beyond its room are left out.
struct value_addresses {
    static constexpr unsigned room = 16;
    const void* of[room];
    unsigned count = 0;
    void add(const void* address) noexcept {
        if (count < room) of[count++] = address;
    }
};

/// Each function writes all of the values.
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

/// Calls `use` with a source of these values. Each is visited by `values`, a callable of the callables below.
template <class Use, class... Arguments>
void with_values(const Use& use, const Arguments&... arguments) noexcept {
    const auto all = [&](const auto& visit) noexcept { visit(arguments...); };
    using visitor = decltype(all);
    use(value_source{
        [](argument_writer& to, const void* values) noexcept {
            (*static_cast<const visitor*>(values))(
                [&to](const auto&... each) noexcept { write_arguments(to, each...); });
        },
        [](shape_writer& to, const void* values) noexcept {
            (*static_cast<const visitor*>(values))(
                [&to](const auto&... each) noexcept { (write_shape(to, each), ...); });
        },
        [](value_addresses& to, const void* values) noexcept {
            (*static_cast<const visitor*>(values))(
                [&to](const auto&... each) noexcept { (to.add(address_of_elements(each)), ...); });
        },
        &all,
    });
}

}  // namespace coroscope::detail
