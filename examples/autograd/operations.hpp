// SPDX-License-Identifier: Apache-2.0
#pragma once

// Operations on tensors of equal size, element by element. If an operand wants a gradient, so does
// the result, and the operation leaves a node on the tape. Each operation is a range with its
// thread's next sequence number, which the node takes.

#include "tensor.hpp"

namespace autograd {

tensor mul(const tensor& left, const tensor& right);
tensor pow(const tensor& base, double exponent);
/// The sum of all elements, as a tensor of one.
tensor sum(const tensor& of);

}  // namespace autograd
