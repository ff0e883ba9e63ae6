// SPDX-License-Identifier: Apache-2.0
#pragma once

// Captured arguments. If the session asks for them (profile_options::record_arguments),
// COROSCOPE_ARGS writes the values of its arguments as text into the trace. Otherwise it reads none
// of them.
//
// A value is written by `coroscope_argument(argument_writer&, const T&)`, found by
// argument-dependent lookup. Without that function the type decides: integers, floating point,
// bool, enumerations, pointers to non-volatile objects (their address), text, and types with data()
// and size() of char. Other types are written as "?". Text ends at its first NUL. An array without
// a NUL ends with the array. A `const char*` is read until its NUL or until the writer's 1,024
// bytes are full.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <coroscope/detail/export.hpp>

namespace coroscope {

/// Collects one scope's arguments in a buffer of 1,024 bytes. Longer text is cut and counts among
/// the trace's truncated texts. Only one thread may use it, on its stack.
class argument_writer {
public:
    argument_writer() noexcept = default;
    argument_writer(const argument_writer&) = delete;
    argument_writer& operator=(const argument_writer&) = delete;

    /// Each of these appends one value; text that exceeds the buffer is cut.
    COROSCOPE_API void text(const char* data, std::size_t size) noexcept;
    /// Adds text up to its NUL. Reads at most `limit` bytes, and at most one byte more than fit.
    COROSCOPE_API void terminated_text(const char* data,
                                       std::size_t limit = ~std::size_t{0}) noexcept;
    COROSCOPE_API void integer(std::int64_t value) noexcept;
    COROSCOPE_API void natural(std::uint64_t value) noexcept;
    COROSCOPE_API void real(double value) noexcept;
    COROSCOPE_API void address(const void* value) noexcept;
    void boolean(bool value) noexcept { value ? text("true", 4) : text("false", 5); }
    void unknown() noexcept { text("?", 1); }

    const char* data() const noexcept { return buffer_; }
    std::size_t size() const noexcept { return size_; }
    bool cut() const noexcept { return cut_; }
    /// Returns the text with a NUL at its end.
    const char* terminated() noexcept {
        buffer_[size_] = '\0';
        return buffer_;
    }

private:
    static constexpr std::size_t capacity = 1024;
    std::size_t size_ = 0;
    bool cut_ = false;
    char buffer_[capacity + 1];
};

namespace detail {

template <class T>
concept has_argument_hook =
    requires(argument_writer& writer, const T& value) { coroscope_argument(writer, value); };

template <class T>
concept text_like = requires(const T& value) {
    { value.data() } -> std::convertible_to<const char*>;
    { value.size() } -> std::convertible_to<std::size_t>;
};

template <class T>
void write_argument(argument_writer& writer, const T& value) noexcept {
    if constexpr (has_argument_hook<T>) {
        coroscope_argument(writer, value);
    } else if constexpr (std::same_as<T, bool>) {
        writer.boolean(value);
    } else if constexpr (std::is_enum_v<T>) {
        writer.integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::signed_integral<T>) {
        writer.integer(value);
    } else if constexpr (std::unsigned_integral<T>) {
        writer.natural(value);
    } else if constexpr (std::floating_point<T>) {
        writer.real(static_cast<double>(value));
    } else if constexpr (std::is_bounded_array_v<T> &&
                         std::is_same_v<std::remove_extent_t<T>, char>) {
        writer.terminated_text(value, std::extent_v<T>);
    } else if constexpr (std::is_convertible_v<T, const char*>) {
        const char* text = value;
        text == nullptr ? writer.text("null", 4) : writer.terminated_text(text);
    } else if constexpr (text_like<T>) {
        writer.text(value.data(), value.size());
    } else if constexpr (std::is_pointer_v<T> && std::is_convertible_v<T, const void*>) {
        writer.address(static_cast<const void*>(value));
    } else {
        writer.unknown();
    }
}

/// Writes all arguments, separated by commas.
template <class... Arguments>
void write_arguments(argument_writer& writer, const Arguments&... arguments) noexcept {
    bool first = true;
    ((first ? void(first = false) : writer.text(", ", 2),
      detail::write_argument(writer, arguments)),
     ...);
}

}  // namespace detail
}  // namespace coroscope
