// SPDX-License-Identifier: Apache-2.0
#pragma once

// result<T>: a value or a failure, with the member names of std::expected, which not all supported
// compilers have. Corrupt input is a value of this type, never an exception.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace coroscope::trace {

/// The reason of a failure. `message` must be one clause without the name of the file.
struct failure {
    std::string message;
    std::optional<std::uint64_t> byte_offset{};  ///< offset in the input, if it is known
};

/// A value or a failure; see above. Not thread-safe while it changes.
template <class Value>
class [[nodiscard]] result {
public:
    result(Value value) : state_(std::in_place_index<0>, std::move(value)) {}
    result(failure error) : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

    /// The value. The result must have one: has_value().
    [[nodiscard]] Value& value() & { return std::get<0>(state_); }
    [[nodiscard]] const Value& value() const& { return std::get<0>(state_); }
    [[nodiscard]] Value&& value() && { return std::get<0>(std::move(state_)); }
    [[nodiscard]] Value& operator*() & { return value(); }
    [[nodiscard]] const Value& operator*() const& { return value(); }
    [[nodiscard]] Value&& operator*() && { return std::move(*this).value(); }
    [[nodiscard]] Value* operator->() { return &value(); }
    [[nodiscard]] const Value* operator->() const { return &value(); }

    /// The failure. The result must have one: !has_value().
    [[nodiscard]] const failure& error() const& { return std::get<1>(state_); }

private:
    std::variant<Value, failure> state_;
};

}  // namespace coroscope::trace
