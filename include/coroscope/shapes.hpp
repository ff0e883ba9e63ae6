// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shapes of captured arguments. If a session asks for them (profile_options::record_shapes),
// COROSCOPE_ARGS notes the dimensions, strides and element type of each argument, and the value of
// an argument without dimensions.
//
//   // Found by argument-dependent lookup:
//   void coroscope_shape(coroscope::shape_writer& shape, const matrix& m) {
//       shape.dimension(m.rows(), m.columns());  // extent, and the stride if there is one
//       shape.dimension(m.columns(), 1);
//       shape.type("double");
//   }
//
// Types without that function have dimensions if they have extents like std::mdspan (rank(),
// extent(i) and, optionally, stride(i)), are arrays (also of arrays), or have a size() and elements
// and are not text. All other types have no dimensions.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <coroscope/arguments.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope {

class shape_writer;
namespace detail {
struct scope_start;
struct shape_room;
COROSCOPE_API void record_shapes(const scope_start& start, shape_writer& shapes) noexcept;
}  // namespace detail

/// Collects the shapes of one argument after the other. Only one thread may use it. If the
/// arguments exceed its room, all of them are left out and count as one of the trace's truncated
/// texts. The text is in memory that belongs to the thread, and not on its stack, which may be
/// small. A thread has room for one writer at a time; a second one has none.
class shape_writer {
public:
    COROSCOPE_API shape_writer() noexcept;
    COROSCOPE_API ~shape_writer();
    shape_writer(const shape_writer&) = delete;
    shape_writer& operator=(const shape_writer&) = delete;

    static constexpr std::int64_t unknown_stride = -1;

    /// Adds one dimension; the outermost must come first. Strides count elements. If one stride of
    /// an argument is unknown, none of its strides are kept.
    COROSCOPE_API void dimension(std::uint64_t extent,
                                 std::int64_t stride = unknown_stride) noexcept;
    /// The type of the elements or of the value. The name is copied.
    COROSCOPE_API void type(const char* name, std::size_t size) noexcept;
    void type(const char* name) noexcept { type(name, __builtin_strlen(name)); }
    /// The value of an argument without dimensions.
    COROSCOPE_API void value(const argument_writer& text) noexcept;
    /// Returns an empty writer for a value, valid until the next call; null if there is no room at
    /// all.
    COROSCOPE_API argument_writer* empty_text() noexcept;

    /// Each argument must be written between these two calls.
    COROSCOPE_API void begin_argument() noexcept;
    COROSCOPE_API void end_argument() noexcept;

    /// Writes dimensions, strides, types and values as JSON arrays, one line each; nothing if there
    /// was no room. `into` must have room for four times `line_bytes`. Returns the size.
    COROSCOPE_API std::size_t finish(char* into) noexcept;
    static constexpr std::size_t line_bytes = 1000;

private:
    friend void detail::record_shapes(const detail::scope_start& start,
                                      shape_writer& shapes) noexcept;
    detail::shape_room* room_;  ///< null: no room
    bool strides_known_ = true;
    bool has_type_ = false;
    bool has_value_ = false;
    std::size_t rollback_ = 0;  ///< start of this argument's strides
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

/// std::array and similar types: the extent is a part of the type, and the type has no other
/// content.
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
    // GCC writes "… [with T = float]", clang writes "… [T = float]".
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
    constexpr name_view name = detail::type_name<std::remove_cv_t<T>>();
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
        detail::write_type<typename T::element_type>(writer);
}

/// Returns the number of scalars between two elements of this type, if that is a part of the type;
/// else 1.
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
        detail::write_elements<std::remove_extent_t<T>>(writer, std::extent_v<T>);
    else if constexpr (fixed_array<T>)
        detail::write_elements<element_of<T>>(writer, fixed_extent<T>);
    else
        detail::write_type<T>(writer);
}

/// `size` contiguous elements of type T.
template <class T>
void write_elements(shape_writer& writer, std::size_t size) noexcept {
    writer.dimension(size, detail::scalars_in<T>());
    detail::write_array_type<T>(writer);
}

/// One argument of any type.
template <class T>
void write_shape(shape_writer& writer, const T& value) noexcept {
    writer.begin_argument();
    if constexpr (has_shape_hook<T>) {
        coroscope_shape(writer, value);
    } else if constexpr (has_extents<T>) {
        detail::write_extents(writer, value);
    } else if constexpr (std::is_array_v<T> &&
                         !std::is_same_v<std::remove_cv_t<std::remove_extent_t<T>>, char>) {
        detail::write_array_type<T>(writer);
    } else if constexpr (sized_range<T>) {
        if constexpr (requires { value.data(); }) {
            detail::write_elements<element_of<T>>(writer, value.size());
        } else {
            writer.dimension(value.size());
            detail::write_array_type<element_of<T>>(writer);
        }
    } else {
        if constexpr (std::is_arithmetic_v<T>) detail::write_type<T>(writer);
        argument_writer* const text = writer.empty_text();
        if (text == nullptr) return;
        detail::write_argument(*text, value);
        writer.value(*text);
    }
    writer.end_argument();
}

}  // namespace detail
}  // namespace coroscope
