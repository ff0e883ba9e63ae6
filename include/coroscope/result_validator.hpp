// SPDX-License-Identifier: Apache-2.0
#pragma once

// result_validator: what makes a task's result an anomaly, though nothing was thrown. Specialise it for a
// type of result, or for one promise type, before the first coroutine that it is for:
//
//   template <>
//   struct coroscope::result_validator<double> {
//       static bool is_anomalous(const double& value) noexcept { return value != value; }
//   };
//
// It is asked while anomaly detection is on (anomaly.hpp), on the task's thread, before the promise gets the
// value. One for the promise type wins over one for the type of the result.

#include <concepts>

namespace coroscope {

template <class PromiseOrResult>
struct result_validator {};

namespace detail {

template <class Key, class Value>
concept validated_by = requires(const Value& value) {
    { result_validator<Key>::is_anomalous(value) } -> std::convertible_to<bool>;
};

}  // namespace detail
}  // namespace coroscope
