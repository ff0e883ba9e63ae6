// SPDX-License-Identifier: Apache-2.0
#pragma once

// attribute: a key and a value that the context carries (a request id, a tenant) and that follow the
// work wherever it goes: into awaited and spawned tasks, executors' jobs, propagated callables.
//
//   coroscope::attribute tenant("tenant", request.tenant);   // until the end of the block
//   …
//   if (auto tenant = coroscope::current_attribute("tenant")) log(tenant.data(), tenant.size());
//
// Attributes nest; of two with the same key the inner one counts. Scopes that begin while an attribute is
// carried can be grouped by it: `coroscope table F --group-by attr:tenant`. Work that was started
// while it was carried keeps it, also after the block has ended.
//
// Not of the hot path, but noexcept, without a lock, and without allocation once as many were alive
// before. A key and its value have room for attribute_bytes together; what is longer is cut, and
// counted among the trace's truncated texts. At most 2^20 combinations live at a time; what does
// not fit is not carried.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope {

/// Room for a key and its value, in bytes.
inline constexpr std::size_t attribute_bytes = 104;

/// A value, copied out of the context. Not NUL-terminated.
class attribute_value {
public:
    /// Was the key found?
    explicit operator bool() const noexcept { return found_; }
    const char* data() const noexcept { return text_; }
    std::size_t size() const noexcept { return size_; }

private:
    friend COROSCOPE_API attribute_value current_attribute(const char* key) noexcept;
    bool found_ = false;
    std::uint8_t size_ = 0;
    char text_[attribute_bytes];
};

/// The value that the calling thread's context carries for a key. Any thread, any time. Always
/// empty in a program that is compiled with COROSCOPE_ENABLED=0.
COROSCOPE_API attribute_value current_attribute(const char* key) noexcept;

namespace detail {

/// The context carries one attribute more: gives its handle, 0 where that is not possible.
COROSCOPE_API std::uint32_t begin_attribute(const char* key, const char* value,
                                            std::size_t size) noexcept;
/// Takes it off where the context still carries it, and lets it go.
COROSCOPE_API void end_attribute(std::uint32_t handle) noexcept;

/// A number as text, at the end of `to`. Gives its first digit.
template <class Integer>
constexpr char* format_integer(Integer value, char* end) noexcept {
    const bool negative = value < 0;
    auto rest = static_cast<std::uint64_t>(value);
    if (negative) rest = 0 - rest;
    do {
        *--end = static_cast<char>('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (negative) *--end = '-';
    return end;
}

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// Carried from its construction to its destruction, by the task or thread that runs the block. It lives in
/// a block, on the stack or in the frame of an instrumented or Asio-tracked coroutine.
class [[nodiscard]] attribute {
public:
    /// `value`: an integer, or text: a C string or anything with data() and size(). Both are copied; null is "".
    template <class Value>
    attribute(const char* key, const Value& value) noexcept {
        if constexpr (COROSCOPE_ENABLED == 0) {
            static_cast<void>(key);
        } else if constexpr (std::is_integral_v<Value>) {
            char text[24];
            char* const end = text + sizeof text;
            const char* first = detail::format_integer(value, end);
            handle_ = detail::begin_attribute(key, first, static_cast<std::size_t>(end - first));
        } else if constexpr (std::is_convertible_v<const Value&, const char*>) {
            const char* text = value;
            handle_ =
                detail::begin_attribute(key, text, text == nullptr ? 0 : __builtin_strlen(text));
        } else {
            handle_ = detail::begin_attribute(key, value.data(), value.size());
        }
    }
    ~attribute() {
        if (handle_ != 0) detail::end_attribute(handle_);
    }
    attribute(const attribute&) = delete;
    attribute& operator=(const attribute&) = delete;

private:
    std::uint32_t handle_ = 0;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
