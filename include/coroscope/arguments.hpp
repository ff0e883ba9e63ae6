// SPDX-License-Identifier: Apache-2.0
#pragma once

// Captured arguments: COROSCOPE_ARGS writes the values of its arguments as text into the trace when
// the session asks for them (profile_options::record_arguments), and looks at none of them otherwise.
//
// A value is shown by `coroscope_argument(argument_writer&, const T&)`, found by argument-dependent
// lookup, if there is one; else by what it is: integers, floating point, bool, enumerations, pointers
// to objects that are not volatile (their address), text, and anything with data() and size() of char. Others show as "?". Text ends at its
// first NUL; where there is none, an array's ends with it, and what a `const char*` points to is read until
// the writer's 1,024 bytes are full.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <coroscope/detail/export.hpp>

namespace coroscope {

/// Collects one scope's arguments in a buffer of 1,024 bytes; longer text is cut, and counted among the
/// trace's truncated texts. Used by one thread, on the stack.
class argument_writer {
public:
    argument_writer() noexcept = default;
    argument_writer(const argument_writer&) = delete;
    argument_writer& operator=(const argument_writer&) = delete;

    COROSCOPE_API void text(const char* data, std::size_t size) noexcept;
    /// Text up to its NUL. Reads at most `limit` bytes, and at most one more than there is room for.
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
    /// The text with a NUL behind it.
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

/// All of them, with commas between.
template <class... Arguments>
void write_arguments(argument_writer& writer, const Arguments&... arguments) noexcept {
    bool first = true;
    ((first ? void(first = false) : writer.text(", ", 2), write_argument(writer, arguments)), ...);
}

}  // namespace detail
}  // namespace coroscope
