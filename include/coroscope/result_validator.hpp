// SPDX-License-Identifier: Apache-2.0
#pragma once

// result_validator: decides whether a task's result is an anomaly although nothing was thrown. The
// program must specialise it for a type of result or for a promise type, before the first coroutine
// to which the specialisation applies:
//
//   template <>
//   struct coroscope::result_validator<double> {
//       static bool is_anomalous(const double& value) noexcept { return value != value; }
//   };
//
// is_anomalous() is called while anomaly detection is on (anomaly.hpp), on the thread that runs the
// task, before the promise gets the value. A validator for the promise type is preferred to one for
// the type of the result. The type of the result is the type of return_value's parameter. If
// return_value is overloaded or a template, the type of the result is a template argument of the
// promise or of the coroutine's type, else the type of the returned value. is_anomalous() is not
// called for `co_return {…}` if the promise overloads return_value and no overload takes a template
// argument.

#include <concepts>

namespace coroscope {

/// The primary template has no is_anomalous(): results are not checked.
template <class PromiseOrResult>
struct result_validator {};

namespace detail {

template <class Key, class Value>
concept validated_by = requires(const Value& value) {
    { result_validator<Key>::is_anomalous(value) } -> std::convertible_to<bool>;
};

}  // namespace detail
}  // namespace coroscope
