// SPDX-License-Identifier: Apache-2.0
#pragma once

// The work: batched requests. A request is a copy, several kernels and a copy on a stream that the
// request has to itself meanwhile. A coroutine, which changes threads between its launches, awaits
// them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/executor_adaptor.hpp>
#include <coroscope/task.hpp>

#include "checked.hpp"
#include "thread_pool.hpp"

namespace cuda_pipeline {

struct workload {
    std::uint64_t launches = 100'000;  ///< least number of kernels
    unsigned streams = 8;
    unsigned threads = 4;
    std::uint64_t launches_per_request = 20;
    std::size_t elements = 4096;  ///< of a batch
    std::uint64_t requests() const {
        return (launches + launches_per_request - 1) / launches_per_request;
    }
};

/// The work that was requested from a stream, in order. The trace is compared with it.
struct stream_history {
    std::size_t mark_bytes =
        0;  ///< bytes of the first set, unique to the stream: identifies it in the trace
    std::vector<std::uint64_t> requests;  ///< each launched launches_per_request kernels
};

class pipeline {
public:
    explicit pipeline(const workload& of);

    /// Runs all requests and waits for them. Throws the first failure.
    std::vector<stream_history> run();

    std::uint64_t wrong_results() const { return wrong_results_.load(); }

private:
    /// A stream, and the memory of the request that has it.
    struct lane {
        explicit lane(const workload& of);
        owned_stream stream;
        owned_memory<std::uint32_t> batch, input, output;
        stream_history history;
    };

    coroscope::task<void> serve(lane& on);
    coroscope::task<void> handle(lane& on, std::uint64_t request);
    coroscope::task<void> copy_in(lane& on, std::uint64_t request);
    coroscope::task<void> compute(lane& on, std::uint64_t request);
    void check_output(const lane& on, std::uint64_t request);

    workload work_;
    std::vector<lane> lanes_;
    std::atomic<std::uint64_t> next_request_{0};
    std::atomic<std::uint64_t> wrong_results_{0};
    thread_pool threads_;
    coroscope::executor_adaptor<thread_pool&> pool_;
};

}  // namespace cuda_pipeline
