// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shapes of captured arguments: where a session asks for them (profile_options::record_shapes),
// COROSCOPE_ARGS notes for each argument its dimensions, strides and element type, and of arguments without
// dimensions the value.
//
//   void coroscope_shape(coroscope::shape_writer& shape, const matrix& m) {   // found by argument-dependent lookup
//       shape.dimension(m.rows(), m.columns());    // extent, and the stride where there is one
//       shape.dimension(m.columns(), 1);
//       shape.type("double");
//   }
//
// Without that function: what has extents as std::mdspan does (rank(), extent(i) and, where present, stride(i));
// arrays, of arrays too; whatever has a size() and elements, but text. Everything else has no dimensions.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <coroscope/arguments.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope {

/// Collects one argument after the other. Used by one thread, on the stack. Arguments beyond its room are
/// left out together, and counted among the trace's truncated texts.
class shape_writer {
public:
    shape_writer() noexcept = default;
    shape_writer(const shape_writer&) = delete;
    shape_writer& operator=(const shape_writer&) = delete;

    static constexpr std::int64_t unknown_stride = -1;

    /// One dimension, outermost first; strides count elements. An argument has them all or none.
    COROSCOPE_API void dimension(std::uint64_t extent,
                                 std::int64_t stride = unknown_stride) noexcept;
    /// The type of the elements, or of the value: copied.
    COROSCOPE_API void type(const char* name, std::size_t size) noexcept;
    void type(const char* name) noexcept { type(name, __builtin_strlen(name)); }
    /// The value of an argument without dimensions.
    COROSCOPE_API void value(const argument_writer& text) noexcept;

    /// Between these two stands what belongs to one argument.
    COROSCOPE_API void begin_argument() noexcept;
    COROSCOPE_API void end_argument() noexcept;

    /// Dimensions, strides, types and values as JSON arrays, a line for each; empty where there was no room.
    /// `into` has the room of `line_bytes` four times. Returns the size.
    COROSCOPE_API std::size_t finish(char* into) noexcept;
    static constexpr std::size_t line_bytes = 1000;

private:
    struct line {
        std::size_t size = 0;
        bool full = false;
        char text[line_bytes];
        void add(const char* from, std::size_t bytes) noexcept;
        void add_number(std::int64_t number) noexcept;
        void add_quoted(const char* from, std::size_t bytes) noexcept;
        void separate() noexcept;
    };

    line dimensions_, strides_, types_, values_;
    bool strides_known_ = true;
    bool has_type_ = false;
    bool has_value_ = false;
    std::size_t rollback_ = 0;  ///< where this argument's strides begin
};

namespace detail {

template <class T>
concept has_shape_hook =
    requires(shape_writer& writer, const T& value) { coroscope_shape(writer, value); };

template <class T>
concept has_extents = requires(const T& value) {
    { T::rank() } -> std::convertible_to<std::size_t>;
    { value.extent(0) } -> std::convertible_to<std::uint64_t>;
    { value.extents() };
};

template <class T>
concept has_strides = requires(const T& value) {
    { value.stride(0) } -> std::convertible_to<std::int64_t>;
};

template <class T>
concept sized_range = !text_like<T> && requires(const T& value) {
    { value.size() } -> std::convertible_to<std::size_t>;
    { *value.begin() };
};

inline constexpr std::size_t no_extent = ~std::size_t{0};
template <class T>
inline constexpr std::size_t fixed_extent = no_extent;
template <template <class, std::size_t> class Array, class Element, std::size_t Extent>
inline constexpr std::size_t fixed_extent<Array<Element, Extent>> =
    sizeof(Array<Element, Extent>) == Extent * sizeof(Element) ? Extent : no_extent;

/// std::array and its like: the extent is part of the type, and nothing else is in it.
template <class T>
concept fixed_array = sized_range<T> && fixed_extent<T> != no_extent;

template <class T>
using element_of = std::remove_cvref_t<decltype(*std::declval<const T&>().begin())>;

struct name_view {
    const char* data;
    std::size_t size;
};

/// The compiler's name for a type.
template <class T>
constexpr name_view type_name() noexcept {
    // "… [with T = float]", in clang's words "… [T = float]".
    const char* text = __PRETTY_FUNCTION__;
    std::size_t begin = 0;
    while (text[begin] != '\0' && !(text[begin] == 'T' && text[begin + 1] == ' ' &&
                                    text[begin + 2] == '=' && text[begin + 3] == ' '))
        ++begin;
    begin += 4;
    std::size_t end = begin;
    while (text[end] != '\0') ++end;
    return {text + begin, end - begin - 1};
}

template <class T>
void write_type(shape_writer& writer) noexcept {
    constexpr name_view name = type_name<std::remove_cv_t<T>>();
    writer.type(name.data, name.size);
}

template <class T>
void write_shape(shape_writer& writer, const T& value) noexcept;

template <class T>
void write_extents(shape_writer& writer, const T& value) noexcept {
    using index = decltype(T::rank());
    for (index at = 0; at < T::rank(); ++at) {
        const auto extent = static_cast<std::uint64_t>(value.extent(at));
        if constexpr (has_strides<T>)
            writer.dimension(extent, static_cast<std::int64_t>(value.stride(at)));
        else
            writer.dimension(extent);
    }
    if constexpr (requires { typename T::element_type; })
        write_type<typename T::element_type>(writer);
}

/// How many scalars lie between two elements of this type, where that is part of the type.
template <class T>
constexpr std::int64_t scalars_in() noexcept {
    if constexpr (std::is_array_v<T>)
        return static_cast<std::int64_t>(std::extent_v<T>) * scalars_in<std::remove_extent_t<T>>();
    else if constexpr (fixed_array<T>)
        return static_cast<std::int64_t>(fixed_extent<T>) * scalars_in<element_of<T>>();
    else
        return 1;
}

template <class T>
void write_elements(shape_writer& writer, std::size_t size) noexcept;

template <class T>
void write_array_type(shape_writer& writer) noexcept {
    if constexpr (std::is_array_v<T>)
        write_elements<std::remove_extent_t<T>>(writer, std::extent_v<T>);
    else if constexpr (fixed_array<T>)
        write_elements<element_of<T>>(writer, fixed_extent<T>);
    else
        write_type<T>(writer);
}

/// `size` elements of type T beside each other.
template <class T>
void write_elements(shape_writer& writer, std::size_t size) noexcept {
    writer.dimension(size, scalars_in<T>());
    write_array_type<T>(writer);
}

/// One argument, whatever it is.
template <class T>
void write_shape(shape_writer& writer, const T& value) noexcept {
    writer.begin_argument();
    if constexpr (has_shape_hook<T>) {
        coroscope_shape(writer, value);
    } else if constexpr (has_extents<T>) {
        write_extents(writer, value);
    } else if constexpr (std::is_array_v<T> &&
                         !std::is_same_v<std::remove_cv_t<std::remove_extent_t<T>>, char>) {
        write_array_type<T>(writer);
    } else if constexpr (sized_range<T>) {
        if constexpr (requires { value.data(); }) {
            write_elements<element_of<T>>(writer, value.size());
        } else {
            writer.dimension(value.size());
            write_array_type<element_of<T>>(writer);
        }
    } else {
        if constexpr (std::is_arithmetic_v<T>) write_type<T>(writer);
        argument_writer text;
        write_argument(text, value);
        writer.value(text);
    }
    writer.end_argument();
}

}  // namespace detail
}  // namespace coroscope
