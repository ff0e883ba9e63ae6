// SPDX-License-Identifier: Apache-2.0
#pragma once

// result<T>: a value or a failure, with the member names of std::expected (which the supported
// compilers do not all have). Corrupt input is a value of this type, never an exception.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace coroscope::trace {

/// Why something could not be done. `message` is one clause without the file's name.
struct failure {
    std::string message;
    std::optional<std::uint64_t> byte_offset{};  ///< where in the input, if it is known
};

template <class Value>
class [[nodiscard]] result {
public:
    result(Value value) : state_(std::in_place_index<0>, std::move(value)) {}
    result(failure error) : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }

    /// The value. Precondition: has_value().
    [[nodiscard]] Value& value() & { return std::get<0>(state_); }
    [[nodiscard]] const Value& value() const& { return std::get<0>(state_); }
    [[nodiscard]] Value&& value() && { return std::get<0>(std::move(state_)); }
    [[nodiscard]] Value& operator*() & { return value(); }
    [[nodiscard]] const Value& operator*() const& { return value(); }
    [[nodiscard]] Value&& operator*() && { return std::move(*this).value(); }
    [[nodiscard]] Value* operator->() { return &value(); }
    [[nodiscard]] const Value* operator->() const { return &value(); }

    /// The failure. Precondition: !has_value().
    [[nodiscard]] const failure& error() const& { return std::get<1>(state_); }

private:
    std::variant<Value, failure> state_;
};

}  // namespace coroscope::trace
