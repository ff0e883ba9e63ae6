// SPDX-License-Identifier: Apache-2.0

// The use of heap and stack by instrumented coroutines, printed as a name and a number:
//   allocations.*   of memory while a thousand children are awaited, each of which awaits one child, by
//                   the type of the coroutines and their contents: bare, with labelled awaits, or with
//                   labels and scopes
//   stack.*         bytes of stack between the first and the last of a million awaits, of half a
//                   million children
// Each is measured in three states: plain, instrumented and recording. The start of the session allocates,
// and is printed to show that the runtime's allocations are counted. The program also checks that a
// coroutine continues if the compiler sees that it resumes at once, and omits its awaiter from the frame.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <utility>

#include <coroscope/coroscope.hpp>

#include "allocations.hpp"

namespace {

// A lazy coroutine that transfers symmetrically to its child and back.
template <template <class> class Wrap>
class [[nodiscard]] chained {
public:
    struct promise {
        struct hand_back {
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<>
            await_suspend(std::coroutine_handle<promise> ended) const noexcept {
                return ended.promise().next;
            }
            void await_resume() const noexcept {}
        };
        chained get_return_object() noexcept {
            return chained(std::coroutine_handle<promise>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        hand_back final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
        std::coroutine_handle<> next = std::noop_coroutine();
    };
    using promise_type = Wrap<promise>;

    explicit chained(std::coroutine_handle<promise> frame) noexcept : frame_(frame) {}
    chained(chained&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
    ~chained() {
        if (frame_) frame_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) const noexcept {
        frame_.promise().next = awaiter;
        return frame_;
    }
    void await_resume() const noexcept {}
    void start() const { frame_.resume(); }

private:
    std::coroutine_handle<promise> frame_;
};

template <class Promise>
using as_it_is = Promise;
using plain = chained<as_it_is>;
using instrumented = chained<coroscope::instrumented>;

struct stack_extent {
    std::uintptr_t low = UINTPTR_MAX;
    std::uintptr_t high = 0;
};

[[gnu::noinline]] void look(stack_extent& seen) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    seen.low = here < seen.low ? here : seen.low;
    seen.high = here > seen.high ? here : seen.high;
}

// Out of line: clang allocates no frame if it sees the coroutine's end.
template <class Coroutine>
[[gnu::noinline]] Coroutine leaf(stack_extent& seen) {
    look(seen);
    co_return;
}

#define CHAIN(shape, SCOPE, AWAIT)                                                                 \
    struct shape {                                                                                 \
        template <class Coroutine>                                                                 \
        [[gnu::noinline]] static Coroutine child(stack_extent& seen) {                             \
            SCOPE("child");                                                                        \
            co_await AWAIT("leaf", leaf<Coroutine>(seen));                                         \
            look(seen);                                                                            \
        }                                                                                          \
        template <class Coroutine>                                                                 \
        [[gnu::noinline]] static Coroutine parent(stack_extent& seen, int children) {              \
            SCOPE("parent");                                                                       \
            for (int each = 0; each < children; ++each)                                            \
                co_await AWAIT("child", child<Coroutine>(seen));                                   \
            look(seen);                                                                            \
        }                                                                                          \
    }
#define NO_SCOPE(label) static_assert(true)
#define NO_LABEL(label, ...) __VA_ARGS__
CHAIN(bare, NO_SCOPE, NO_LABEL);
CHAIN(labelled, NO_SCOPE, COROSCOPE_AWAIT);
CHAIN(scoped, COROSCOPE, COROSCOPE_AWAIT);

template <class Shape, class Coroutine>
stack_extent run(int children) {
    stack_extent seen;
    auto all = Shape::template parent<Coroutine>(seen, children);
    if constexpr (requires { all.start(); })
        all.start();
    else
        coroscope::sync_wait(std::move(all));
    return seen;
}

template <class Shape, class Coroutine>
void measure(const char* state, const char* shape) {
    run<Shape, Coroutine>(1);  // warm up: first-time work is done here
    const long before = allocations::so_far();
    run<Shape, Coroutine>(1000);
    std::printf("allocations.%s.%s %ld\n", state, shape, allocations::so_far() - before);
    const stack_extent seen = run<Shape, Coroutine>(500'000);
    std::printf("stack.%s.%s %zu\n", state, shape, static_cast<std::size_t>(seen.high - seen.low));
}
template <class Coroutine>
void measure(const char* state) {
    measure<bare, Coroutine>(state, "bare");
    measure<labelled, Coroutine>(state, "labelled");
    measure<scoped, Coroutine>(state, "scoped");
}

struct back_to_itself {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) const noexcept {
        return self;
    }
    void await_resume() const noexcept {}
};
struct after_all {
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
    void await_resume() const noexcept {}
};

template <class Start>
struct starts_at_once {
    struct promise {
        starts_at_once get_return_object() const noexcept { return {}; }
        Start initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
    using promise_type = coroscope::instrumented<promise>;
};

template <class Start>
starts_at_once<Start> goes_on(int& steps) {
    COROSCOPE("in a template");
    ++steps;
    co_await back_to_itself();
    ++steps;
    co_await after_all();
    ++steps;
}

bool go_on_at_once() {
    int steps = 0;
    goes_on<std::suspend_never>(steps);
    goes_on<back_to_itself>(steps);
    goes_on<after_all>(steps);
    return steps == 9;
}

}  // namespace

int main() {
    if (!go_on_at_once()) return 2;
    measure<plain>("plain");
    measure<instrumented>("instrumented");
    measure<coroscope::task<>>("task");
    coroscope::profile_options options;
    options.policy = coroscope::overflow::overwrite_oldest;
    options.limit_bytes = std::size_t{16} << 20;
    const long before = allocations::so_far();
    const coroscope::profile session(options);
    std::printf("start.allocations %ld\n", allocations::so_far() - before);
    if (session.status().state != coroscope::session_state::recording) return 1;
    if (!go_on_at_once()) return 2;
    measure<plain>("plain.recording");
    measure<instrumented>("instrumented.recording");
    measure<coroscope::task<>>("task.recording");
}
