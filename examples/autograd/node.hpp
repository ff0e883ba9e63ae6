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
    /// `place` ties the node to the operation that made it: the profiler draws an arrow from there to here.
    node(const char* name, coroscope::deferred place) : name_(name), place_(place) {}
    virtual ~node() = default;
    node(const node&) = delete;
    node& operator=(const node&) = delete;

    /// From the gradient of what was computed, that of each thing that it was computed from.
    virtual std::vector<values> run(const values& gradient) = 0;

    const char* name() const { return name_; }
    const coroscope::deferred& place() const { return place_; }

    /// Who takes the gradients; null where one is not wanted.
    std::vector<std::shared_ptr<node>> next;

private:
    const char* name_;
    coroscope::deferred place_;
};

/// Where a tensor's gradient goes: the node that made it, of a leaf one that adds to its gradient.
std::shared_ptr<node> gradient_edge(const tensor& of);

}  // namespace autograd
