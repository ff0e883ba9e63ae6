// SPDX-License-Identifier: Apache-2.0
#include "pipeline.hpp"

#include <exception>
#include <thread>

#include <coroscope/coroscope.hpp>
#include <coroscope/integration/cuda_completion.hpp>

#include "kernels.hpp"

namespace cuda_pipeline {
namespace {

constexpr std::uint64_t launches_between_hops = 5;

// Returns the request's own factor. It is odd, so that the multiplication can be inverted.
std::uint32_t factor_of(std::uint64_t request) {
    return static_cast<std::uint32_t>(2 * request + 3);
}

}  // namespace

pipeline::lane::lane(const workload& of)
    : batch(of.elements + of.streams,  // with room for its mark
            owned_memory<std::uint32_t>::where::device),
      input(of.elements, owned_memory<std::uint32_t>::where::host),
      output(of.elements, owned_memory<std::uint32_t>::where::host) {}

pipeline::pipeline(const workload& of) : work_(of), threads_(of.threads), pool_(threads_) {
    for (unsigned each = 0; each < of.streams; ++each) lanes_.emplace_back(of);
}

std::vector<stream_history> pipeline::run() {
    std::vector<std::exception_ptr> failures(lanes_.size());
    std::vector<std::thread> waiting;
    for (std::size_t each = 0; each < lanes_.size(); ++each) {
        lane& on = lanes_[each];
        on.history.mark_bytes = each + 1;
        check(cudaMemsetAsync(on.batch.get(), 0, on.history.mark_bytes, on.stream.get()),
              "cudaMemsetAsync");
        waiting.emplace_back([this, &on, &failure = failures[each]] {
            try {
                coroscope::sync_wait(serve(on));
            } catch (...) {
                failure = std::current_exception();
            }
        });
    }
    for (std::thread& each : waiting) each.join();
    for (const std::exception_ptr& each : failures)
        if (each) std::rethrow_exception(each);
    std::vector<stream_history> histories;
    for (const lane& each : lanes_) histories.push_back(each.history);
    return histories;
}

coroscope::task<void> pipeline::serve(lane& on) {
    for (;;) {
        const std::uint64_t number = next_request_.fetch_add(1);
        if (number >= work_.requests()) co_return;
        const coroscope::attribute request("request", number);
        on.history.requests.push_back(number);
        co_await handle(on, number);
    }
}

coroscope::task<void> pipeline::handle(lane& on, std::uint64_t request) {
    COROSCOPE_FUNCTION();
    co_await pool_.schedule();
    co_await copy_in(on, request);
    co_await compute(on, request);
    check(cudaMemcpyAsync(on.output.get(), on.batch.get(), work_.elements * sizeof(std::uint32_t),
                          cudaMemcpyDeviceToHost, on.stream.get()),
          "cudaMemcpyAsync");
    check(co_await COROSCOPE_AWAIT("device", coroscope::cuda::completion(on.stream.get(), pool_)),
          "the stream of a request");
    check_output(on, request);
}

coroscope::task<void> pipeline::copy_in(lane& on, std::uint64_t request) {
    COROSCOPE_FUNCTION();
    for (std::size_t at = 0; at < work_.elements; ++at)
        on.input.get()[at] = static_cast<std::uint32_t>(request + at);
    check(cudaMemcpyAsync(on.batch.get(), on.input.get(), work_.elements * sizeof(std::uint32_t),
                          cudaMemcpyHostToDevice, on.stream.get()),
          "cudaMemcpyAsync");
    co_return;
}

coroscope::task<void> pipeline::compute(lane& on, std::uint64_t request) {
    COROSCOPE_FUNCTION();
    for (std::uint64_t launched = 0; launched < work_.launches_per_request; ++launched) {
        if (launched % launches_between_hops == 0) co_await pool_.schedule();
        check(launch_step(on.batch.get(), work_.elements, factor_of(request), on.stream.get()),
              "the kernel");
    }
}

void pipeline::check_output(const lane& on, std::uint64_t request) {
    COROSCOPE_FUNCTION();
    for (std::size_t at = 0; at < work_.elements; at += 97) {
        auto expected = static_cast<std::uint32_t>(request + at);
        for (std::uint64_t step = 0; step < work_.launches_per_request; ++step)
            expected = expected * factor_of(request) + 1;
        if (on.output.get()[at] != expected) wrong_results_.fetch_add(1);
    }
}

}  // namespace cuda_pipeline
