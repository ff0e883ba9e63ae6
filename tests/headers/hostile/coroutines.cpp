// SPDX-License-Identifier: Apache-2.0

// Coroutines, awaitables and results of a hostile library, with all macros and calls that take
// them.
#include <new>

#include <coroscope/coroscope.hpp>

#include "hostile.hpp"

namespace hostile {

/// The promise of a lazy coroutine, with each hook that a promise may have.
template <class Result>
struct promise_of : value {
    promise_of() = default;
    template <class... Parameters>
    explicit promise_of(const value&, Parameters&&...) {}

    template <class Coroutine>
    struct object {
        using promise_type = Coroutine;
    };
    silent_awaiter initial_suspend() const noexcept { return {}; }
    silent_awaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() const {}
    awaiter yield_value(const Result&) const noexcept { return {}; }
    template <class Other>
    awaiter yield_value(Other&&) const noexcept {
        return {};
    }
    void return_value(Result) const {}
};

struct own : value {
    struct promise : promise_of<value> {
        using promise_of::promise_of;
        own get_return_object() const { return {}; }
    };
    using promise_type = coroscope::instrumented<promise>;
};

template <class Result>
struct foreign : value {
    struct promise_type : promise_of<Result> {
        using promise_of<Result>::promise_of;
        foreign get_return_object() const { return {}; }
        template <class... Parameters>
        static void* operator new(std::size_t bytes, const value&, Parameters&&...) {
            return ::operator new(bytes);
        }
        static void* operator new(std::size_t bytes) { return ::operator new(bytes); }
        static void operator delete(void* frame) { ::operator delete(frame); }
    };
};

/// Its await_transform takes a label and converts its operand.
struct converting : value {
    struct operand : value {
        operand(int) {}    // NOLINT(google-explicit-constructor)
        operand(value) {}  // NOLINT(google-explicit-constructor)
    };
    struct promise_type : value {
        converting get_return_object() const { return {}; }
        silent_awaiter initial_suspend() const noexcept { return {}; }
        silent_awaiter final_suspend() const noexcept { return {}; }
        void unhandled_exception() const {}
        void return_void() const {}
        awaiter await_transform(const operand&) const { return {}; }
    };
};

/// Its promise is not one of ours.
struct plain : value {
    struct promise_type : value {
        plain get_return_object() const { return {}; }
        silent_awaiter initial_suspend() const noexcept { return {}; }
        silent_awaiter final_suspend() const noexcept { return {}; }
        void unhandled_exception() const {}
        void return_void() const {}
    };
};

}  // namespace hostile

COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class Result), hostile::foreign<Result>);
COROSCOPE_INSTRUMENT_COROUTINE(hostile::converting);

template <>
struct coroscope::result_validator<hostile::value> {
    static hostile::answer is_anomalous(const hostile::value&) noexcept { return {}; }
};
template <>
struct coroscope::result_validator<int> {
    static bool is_anomalous(int) noexcept { return false; }
};

namespace hostile {

// The macros are used in the hostile namespace.
template <class Coroutine>
Coroutine all_awaits(value given) {
    COROSCOPE_FUNCTION();
    COROSCOPE_ARGS("arguments", given, with_member{}, 1);
    COROSCOPE_CAT("category", 1, "label");
    with_member lvalue;
    co_await awaiter{};
    co_await awaiter_of_bool{};
    co_await awaiter_of_handle{};
#if COROSCOPE_ENABLED  // the language awaits it in no other place
    co_await awaiter_of_rvalue{};
    co_await COROSCOPE_AWAIT("label", awaiter_of_rvalue{});
#endif
    co_await lvalue;
    co_await with_member{};
    co_await with_function{};
    co_await COROSCOPE_AWAIT("label", awaiter{});
    co_await COROSCOPE_AWAIT("label", lvalue);
    co_await COROSCOPE_AWAIT("label", with_function{});
    co_return co_await COROSCOPE_AWAIT("label", awaiter{});
}
template coroscope::task<value> all_awaits<coroscope::task<value>>(value);
template own all_awaits<own>(value);
template foreign<value> all_awaits<foreign<value>>(value);

foreign<int> yields(value given) {
    co_yield 1;
    co_yield given;
    co_return 1;
}
own yields_values(value given) {
    co_yield given;
    co_return given;
}
converting converts() {
    co_await 1;
    co_await value{};
    co_await COROSCOPE_AWAIT("label", value{});
}
plain labels() {
    co_await COROSCOPE_AWAIT("label", awaiter{});
    co_await COROSCOPE_AWAIT("label", awaiter_of_bool{});
    co_await COROSCOPE_AWAIT("label", awaiter_of_handle{});
    co_await COROSCOPE_AWAIT("label", with_function{});
}

coroscope::task<value&> refers(value& given) { co_return given; }
coroscope::task<> awaits_tasks() {
    value given;
    co_await refers(given);
    co_await all_awaits<coroscope::task<value>>(given);
    co_await COROSCOPE_AWAIT("label", all_awaits<coroscope::task<value>>(given));
}

void waits() {
    value given;
    static_cast<void>(coroscope::sync_wait(awaiter{}));
    static_cast<void>(coroscope::sync_wait(with_function{}));
    static_cast<void>(coroscope::sync_wait(refers(given)));
    static_cast<void>(coroscope::sync_wait(all_awaits<coroscope::task<value>>(given)));
    coroscope::sync_wait(awaits_tasks());
}

}  // namespace hostile

int main() {}
