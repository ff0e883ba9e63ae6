// SPDX-License-Identifier: Apache-2.0

// A library counts the parameters in its traits, so that they give no promise if one parameter more
// is added, as our macro adds one. The message must name the macro to use instead.
#include <coroutine>

#include <coroscope/instrumented.hpp>

template <class T>
struct job {};
struct tag {};
template <class T>
struct promise_of {
    job<T> get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {}
};
template <class T, class... Parameters>
    requires(sizeof...(Parameters) == 2)
struct std::coroutine_traits<job<T>, Parameters...> {
    using promise_type = promise_of<T>;
};

#if defined(OFFENCE)
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), job<T>);
#else
COROSCOPE_INSTRUMENT_TRAITS((class T), (promise_of<T>), job<T>, tag, T);
#endif

job<int> nothing(tag, int) { co_return; }
static_assert(coroscope::makes_task<job<int>, tag, int>);

int main() { nothing({}, 1); }
