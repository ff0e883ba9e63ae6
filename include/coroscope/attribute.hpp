// SPDX-License-Identifier: Apache-2.0
#pragma once

// attribute: a key and a value that the context carries (a request id, a tenant). They follow the
// work: into awaited and spawned tasks, executors' jobs and propagated callables.
//
//   coroscope::attribute tenant("tenant", request.tenant);   // until the end of the block
//   …
//   if (auto tenant = coroscope::current_attribute("tenant")) log(tenant.data(), tenant.size());
//
// Attributes nest. If two have the same key, the inner one counts. Scopes that begin while an
// attribute is carried can be grouped by it: `coroscope table F --group-by attr:tenant`. Work that
// was started while it was carried keeps it, even after the end of the block.
//
// Attributes are not part of the hot path, but they are noexcept, take no lock, and allocate only
// if more are alive than ever before. A key and its value share attribute_bytes; longer ones are
// cut and count among the trace's truncated texts. At most 2^20 - 1 combinations can be alive at a
// time. An attribute that does not fit is unknown until its block ends, and so are the attributes
// of the blocks around it: the trace counts it, and current_attribute() finds none of them.

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
    /// Returns whether the key was found.
    explicit operator bool() const noexcept { return found_; }
    const char* data() const noexcept { return text_; }
    std::size_t size() const noexcept { return size_; }

private:
    friend COROSCOPE_API attribute_value current_attribute(const char* key) noexcept;
    bool found_ = false;
    std::uint8_t size_ = 0;
    char text_[attribute_bytes];
};

/// Returns the value that the calling thread's context carries for `key`. Any thread may call it at
/// any time. Always empty in a program that is compiled with COROSCOPE_ENABLED=0.
COROSCOPE_API attribute_value current_attribute(const char* key) noexcept;

namespace detail {

/// Adds one attribute to the context and returns its handle, or 0 if that is not possible.
COROSCOPE_API std::uint32_t begin_attribute(const char* key, const char* value,
                                            std::size_t size) noexcept;
/// Removes the attribute if the context still carries it, and releases the handle.
COROSCOPE_API void end_attribute(std::uint32_t handle) noexcept;

/// Writes a number as text that ends at `end`. Returns the address of its first character.
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

/// The context of the task or thread that runs the block carries the attribute from its
/// construction to its destruction. It must be a local variable, on the stack or in the frame of an
/// instrumented or Asio-tracked coroutine.
class [[nodiscard]] attribute {
public:
    /// `value` must be an integer, a C string, or text with data() and size(). Both are copied;
    /// null is "".
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
        if constexpr (COROSCOPE_ENABLED != 0) {
            if (handle_ != 0) detail::end_attribute(handle_);
        }
    }
    attribute(const attribute&) = delete;
    attribute& operator=(const attribute&) = delete;

private:
    std::uint32_t handle_ = 0;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
