// SPDX-License-Identifier: Apache-2.0
#include "operations.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include <coroscope/record_function.hpp>

#include "node.hpp"

namespace autograd {
namespace {

// The computations without a tape. The backward nodes use them, too.
values multiply(const values& left, const values& right) {
    const coroscope::record_function operation("mul", coroscope::next_deferred());
    if (left.size() != right.size()) throw std::invalid_argument("mul: the sizes differ");
    values product(left.size());
    for (std::size_t at = 0; at < left.size(); ++at) product[at] = left[at] * right[at];
    return product;
}

values scale(const values& of, double factor) { return multiply(of, values(of.size(), factor)); }

values raise(const values& base, double exponent) {
    const coroscope::record_function operation("pow", coroscope::next_deferred());
    values power(base.size());
    for (std::size_t at = 0; at < base.size(); ++at) power[at] = std::pow(base[at], exponent);
    return power;
}

class pow_backward final : public node {
public:
    pow_backward(tensor base, double exponent)
        : node("PowBackward0", coroscope::defer()), base_(std::move(base)), exponent_(exponent) {}
    std::vector<values> run(const values& gradient) override {
        const values slope = scale(raise(base_.numbers(), exponent_ - 1), exponent_);
        return {multiply(gradient, slope)};
    }

private:
    tensor base_;
    double exponent_;
};

class mul_backward final : public node {
public:
    mul_backward(tensor left, tensor right)
        : node("MulBackward0", coroscope::defer()),
          left_(std::move(left)),
          right_(std::move(right)) {}
    std::vector<values> run(const values& gradient) override {
        return {multiply(gradient, right_.numbers()), multiply(gradient, left_.numbers())};
    }

private:
    tensor left_, right_;
};

class sum_backward final : public node {
public:
    explicit sum_backward(std::size_t size)
        : node("SumBackward0", coroscope::defer()), size_(size) {}
    std::vector<values> run(const values& gradient) override {
        return {values(size_, gradient.front())};
    }

private:
    std::size_t size_;
};

class accumulate_gradient final : public node {
public:
    // It belongs to a leaf, not to an operation, so it has no place in a sequence.
    explicit accumulate_gradient(const std::shared_ptr<tensor_data>& leaf)
        : node("torch::autograd::AccumulateGrad", {}), leaf_(leaf) {}
    std::vector<values> run(const values& gradient) override {
        if (leaf_->gradient.empty()) leaf_->gradient.assign(gradient.size(), 0);
        for (std::size_t at = 0; at < gradient.size(); ++at) leaf_->gradient[at] += gradient[at];
        return {};
    }

private:
    std::shared_ptr<tensor_data> leaf_;
};

template <class Backward, class... Arguments>
tensor on_tape(values numbers, std::vector<const tensor*> operands, Arguments&&... arguments) {
    bool wanted = false;
    for (const tensor* each : operands) wanted = wanted || each->wants_gradient();
    tensor result(std::move(numbers), wanted);
    if (!wanted) return result;
    result.data()->made_by = std::make_shared<Backward>(static_cast<Arguments&&>(arguments)...);
    for (const tensor* each : operands)
        result.data()->made_by->next.push_back(gradient_edge(*each));
    return result;
}

}  // namespace

std::shared_ptr<node> gradient_edge(const tensor& of) {
    tensor_data& data = *of.data();
    if (!data.wants_gradient || data.made_by) return data.made_by;
    std::shared_ptr<node> accumulates = data.accumulates_to.lock();
    if (!accumulates) {
        accumulates = std::make_shared<accumulate_gradient>(of.data());
        data.accumulates_to = accumulates;
    }
    return accumulates;
}

tensor mul(const tensor& left, const tensor& right) {
    // The computation's range has the next number, which the node made here takes.
    values numbers = multiply(left.numbers(), right.numbers());
    return on_tape<mul_backward>(std::move(numbers), {&left, &right}, left, right);
}

tensor pow(const tensor& base, double exponent) {
    values numbers = raise(base.numbers(), exponent);
    return on_tape<pow_backward>(std::move(numbers), {&base}, base, exponent);
}

tensor sum(const tensor& of) {
    const coroscope::record_function operation("sum", coroscope::next_deferred());
    double total = 0;
    for (const double each : of.numbers()) total += each;
    return on_tape<sum_backward>({total}, {&of}, of.size());
}

}  // namespace autograd
