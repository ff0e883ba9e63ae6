// SPDX-License-Identifier: Apache-2.0
#pragma once

// tensor: a vector of numbers that remembers its computation. A handle: copies refer to the same
// numbers.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace autograd {

class node;
using values = std::vector<double>;

struct tensor_data {
    values numbers;
    values gradient;                     // of a leaf, once backward() has reached it
    std::shared_ptr<node> made_by;       // receiver of its gradient; null if none is wanted
    std::weak_ptr<node> accumulates_to;  // of a leaf: made when the first operation needs it
    bool wants_gradient = false;
};

class tensor {
public:
    explicit tensor(values numbers, bool wants_gradient = false)
        : data_(std::make_shared<tensor_data>()) {
        data_->numbers = std::move(numbers);
        data_->wants_gradient = wants_gradient;
    }

    const values& numbers() const { return data_->numbers; }
    const values& gradient() const { return data_->gradient; }
    std::size_t size() const { return data_->numbers.size(); }
    bool wants_gradient() const { return data_->wants_gradient; }
    const std::shared_ptr<tensor_data>& data() const { return data_; }

private:
    std::shared_ptr<tensor_data> data_;
};

}  // namespace autograd
