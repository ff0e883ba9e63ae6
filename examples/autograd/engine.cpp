// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <queue>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <coroscope/record_function.hpp>

#include "node.hpp"

namespace autograd {
namespace {

// One backward run over one tape.
class backward_pass {
public:
    explicit backward_pass(const std::shared_ptr<node>& root) { count_edges(root); }

    void run(const std::shared_ptr<node>& root) {
        hand(root, {1.0});
        while (!ready_.empty()) {
            const std::shared_ptr<node> next = ready_.top().work;
            ready_.pop();
            run_node(*next);
        }
    }

private:
    struct waiting {
        std::size_t edges = 0;
        values gradient;
    };
    struct runnable {
        std::int64_t number;
        std::shared_ptr<node> work;
        bool operator<(const runnable& other) const { return number < other.number; }
    };

    void count_edges(const std::shared_ptr<node>& from) {
        for (const std::shared_ptr<node>& each : from->next) {
            if (!each) continue;
            if (waiting_[each.get()].edges++ == 0) count_edges(each);
        }
    }

    void run_node(node& work) {
        // The range names the operation that deferred the work, and its thread.
        const coroscope::record_function range(work.name(), work.place());
        const std::vector<values> gradients = work.run(waiting_[&work].gradient);
        for (std::size_t at = 0; at < gradients.size(); ++at)
            if (work.next[at]) hand(work.next[at], gradients[at]);
    }

    void hand(const std::shared_ptr<node>& to, const values& gradient) {
        waiting& place = waiting_[to.get()];
        if (place.gradient.empty()) place.gradient.assign(gradient.size(), 0);
        for (std::size_t at = 0; at < gradient.size(); ++at) place.gradient[at] += gradient[at];
        if (place.edges > 1) {
            --place.edges;
            return;
        }
        const std::int64_t number = to->place().number;
        ready_.push({number < 0 ? std::numeric_limits<std::int64_t>::max() : number, to});
    }

    std::unordered_map<const node*, waiting> waiting_;
    std::priority_queue<runnable> ready_;
};

void run_backward(const tensor& of) {
    const std::shared_ptr<node> root = gradient_edge(of);
    if (!root || of.size() != 1)
        throw std::invalid_argument("backward: needs one number that wants a gradient");
    {
        const coroscope::record_function range("torch::autograd::GraphRoot");
    }
    backward_pass(root).run(root);
}

}  // namespace

engine::engine() : thread_([this] { work(); }) {}

engine::~engine() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void engine::backward(const tensor& of) {
    std::unique_lock lock(mutex_);
    job_ = &of;
    changed_.notify_all();
    changed_.wait(lock, [this] { return job_ == nullptr; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void engine::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stopping_ || job_ != nullptr; });
        if (job_ == nullptr) return;
        try {
            run_backward(*job_);
        } catch (...) {
            failure_ = std::current_exception();
        }
        job_ = nullptr;
        changed_.notify_all();
    }
}

}  // namespace autograd
