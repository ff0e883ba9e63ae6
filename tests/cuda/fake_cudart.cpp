// SPDX-License-Identifier: Apache-2.0
#include "fake_cudart.hpp"

#include <atomic>
#include <thread>

namespace coroscope::test {
namespace {

std::atomic<int> events_alive{0};
std::atomic<int> calls_in_callbacks{0};
std::atomic<int> queries{0};
std::atomic<bool> queries_held{false};
std::atomic<int> inside_query{0};

thread_local bool in_callback = false;
thread_local cudaError_t last_error = cudaSuccess;
thread_local int device = 0;

// Every call of the fake runtime comes here.
cudaError_t answer(cudaError_t error) {
    if (in_callback) calls_in_callbacks.fetch_add(1);
    if (error != cudaSuccess) last_error = error;
    return error;
}

void enter_query() {
    queries.fetch_add(1);
    inside_query.fetch_add(1);
    while (queries_held) std::this_thread::yield();
    inside_query.fetch_sub(1);
}

fake_stream& default_stream() {
    static fake_stream only;
    return only;
}

}  // namespace

fake_counts fake_cuda_counts() {
    return {events_alive.load(), calls_in_callbacks.load(), queries.load()};
}

held_queries::held_queries() { queries_held = true; }
void held_queries::let_go() { queries_held = false; }
void held_queries::wait_for_one() const {
    while (inside() == 0) std::this_thread::yield();
}
int held_queries::inside() const { return inside_query; }

fake_stream& fake_stream::of(cudaStream_t handle) {
    if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread)
        return default_stream();
    return *reinterpret_cast<fake_stream*>(handle);
}

void fake_stream::work() {
    const std::lock_guard lock(mutex_);
    items_.push_back({nullptr, nullptr});
}

void fake_stream::complete() {
    std::unique_lock lock(mutex_);
    while (do_first(lock)) {
    }
}

void fake_stream::complete_one() {
    std::unique_lock lock(mutex_);
    do_first(lock);
}

bool fake_stream::do_first(std::unique_lock<std::mutex>& lock) {
    if (items_.empty() || failed_ != cudaSuccess) return false;
    const item next = items_.front();
    if (next.function != nullptr) {
        lock.unlock();
        in_callback = true;
        next.function(next.data);
        in_callback = false;
        lock.lock();
    }
    items_.pop_front();
    ++done_;
    return true;
}

void fake_stream::fail(cudaError_t error) {
    const std::lock_guard lock(mutex_);
    failed_ = error;
}

void fake_stream::lose_everything() {
    const std::lock_guard lock(mutex_);
    done_ += items_.size();
    items_.clear();
}

void fake_stream::refuse_callbacks(cudaError_t error) {
    const std::lock_guard lock(mutex_);
    refused_ = error;
}

std::size_t fake_stream::enqueued() {
    const std::lock_guard lock(mutex_);
    return items_.size();
}

cudaError_t fake_stream::query() {
    const std::lock_guard lock(mutex_);
    if (failed_ != cudaSuccess) return failed_;
    return items_.empty() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t fake_stream::enqueue(cudaHostFn_t function, void* data) {
    const std::lock_guard lock(mutex_);
    if (refused_ != cudaSuccess) return refused_;
    if (failed_ != cudaSuccess) return failed_;
    items_.push_back({function, data});
    return cudaSuccess;
}

std::size_t fake_stream::position() {
    const std::lock_guard lock(mutex_);
    return done_ + items_.size();
}

cudaError_t fake_stream::query_up_to(std::size_t position) {
    const std::lock_guard lock(mutex_);
    if (failed_ != cudaSuccess) return failed_;
    return done_ >= position ? cudaSuccess : cudaErrorNotReady;
}

fake_event& fake_event::of(cudaEvent_t handle) { return *reinterpret_cast<fake_event*>(handle); }

void fake_event::record(fake_stream& stream) {
    const std::lock_guard lock(mutex_);
    stream_ = &stream;
    position_ = stream.position();
}

cudaError_t fake_event::query() {
    const std::lock_guard lock(mutex_);
    return stream_ == nullptr ? cudaSuccess : stream_->query_up_to(position_);
}

}  // namespace coroscope::test

using namespace coroscope::test;

extern "C" {

cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t stream) {
    enter_query();
    return answer(fake_stream::of(stream).query());
}
cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t event) {
    enter_query();
    return answer(fake_event::of(event).query());
}
cudaError_t CUDARTAPI cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
    return answer(fake_stream::of(stream).enqueue(function, data));
}
cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
    events_alive.fetch_add(1);
    *event = (new fake_event)->handle();
    return answer(cudaSuccess);
}
cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    fake_event::of(event).record(fake_stream::of(stream));
    return answer(cudaSuccess);
}
cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
    events_alive.fetch_sub(1);
    delete &fake_event::of(event);
    return answer(cudaSuccess);
}
cudaError_t CUDARTAPI cudaPeekAtLastError() { return last_error; }
cudaError_t CUDARTAPI cudaGetLastError() {
    const cudaError_t last = last_error;
    last_error = cudaSuccess;
    return last;
}
cudaError_t CUDARTAPI cudaGetDevice(int* current) {
    *current = device;
    return answer(cudaSuccess);
}
cudaError_t CUDARTAPI cudaSetDevice(int next) {
    device = next;
    return answer(cudaSuccess);
}
cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
    return answer(cudaSuccess);
}
}
