// SPDX-License-Identifier: Apache-2.0
#pragma once

// node: deferred work on the tape. An operation makes one; the engine runs it, on another thread.

#include <memory>
#include <vector>

#include <coroscope/sequence.hpp>

#include "tensor.hpp"

namespace autograd {

class node {
public:
    /// `place` links the node to the operation that created it: the profiler draws an arrow from
    /// that operation to the node.
    node(const char* name, coroscope::deferred place) : name_(name), place_(place) {}
    virtual ~node() = default;
    node(const node&) = delete;
    node& operator=(const node&) = delete;

    /// Returns the gradient of each input, from the gradient of the result.
    virtual std::vector<values> run(const values& gradient) = 0;

    const char* name() const { return name_; }
    const coroscope::deferred& place() const { return place_; }

    /// The receivers of the gradients; null if a gradient is not wanted.
    std::vector<std::shared_ptr<node>> next;

private:
    const char* name_;
    coroscope::deferred place_;
};

/// Returns the receiver of a tensor's gradient: the node that made it or, for a leaf, a node that
/// adds to its gradient.
std::shared_ptr<node> gradient_edge(const tensor& of);

}  // namespace autograd
