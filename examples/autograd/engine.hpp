// SPDX-License-Identifier: Apache-2.0
#pragma once

// engine: runs the tape backwards, on a thread of its own, as torch does for a device.
//
// A node runs when every node that passes it a gradient has run. Of the ready nodes, the one that
// was created last runs first.

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "tensor.hpp"

namespace autograd {

class engine {
public:
    engine();
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    /// Adds the gradient of `of`, a tensor of one number, to every leaf that wants one. Waits for
    /// the engine's thread. Throws the exceptions of the nodes, and std::invalid_argument if `of`
    /// has no gradient.
    void backward(const tensor& of);

private:
    void work();

    std::mutex mutex_;
    std::condition_variable changed_;
    const tensor* job_ = nullptr;
    std::exception_ptr failure_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace autograd
