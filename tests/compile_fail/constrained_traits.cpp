// SPDX-License-Identifier: Apache-2.0

// Libraries that specialise std::coroutine_traits with constraints, for certain parameters or for
// any. Their coroutines are tasks, and an assertion can find a coroutine that is not instrumented.
#include <concepts>
#include <coroutine>
#include <type_traits>

#include <coroscope/instrumented.hpp>

template <class Coroutine, int Kind>
struct promise_of {
    Coroutine get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept {}
};
template <class...>
inline constexpr bool never = false;

// The first parameter shows how the coroutine was called. The traits convert the parameters of a
// constant or of a member function into that form, and refuse any other first parameter. Fork-join
// libraries have traits of this kind.
namespace forks {
template <class T>
concept returnable = std::is_void_v<T> || std::movable<T>;
template <class T>
concept callable = std::is_class_v<T>;
template <returnable R>
struct task {};
template <int Kind, callable F>
struct call {};
template <class T>
inline constexpr bool is_call = false;
template <int Kind, callable F>
inline constexpr bool is_call<call<Kind, F>> = true;
template <class T>
concept any_call = is_call<std::remove_cvref_t<T>>;

template <class T>
concept constructible_from_itself = std::constructible_from<T, T>;
template <returnable R, int Kind>
struct promise : promise_of<task<R>, Kind> {
    // The constraint asks whether First can be copied, and so does First's own constructor.
    template <constructible_from_itself First, class... Rest>
    explicit promise(const First&, const Rest&...) noexcept {}
};
}  // namespace forks

template <forks::returnable R, class This, forks::any_call Call, class... Rest>
struct std::coroutine_traits<forks::task<R>, This, Call, Rest...>
    : std::coroutine_traits<forks::task<R>, Call, Rest..., This> {};
template <forks::returnable R, forks::any_call Call, class... Rest>
    requires std::is_const_v<Call>
struct std::coroutine_traits<forks::task<R>, Call, Rest...>
    : std::coroutine_traits<forks::task<R>, std::remove_const_t<Call>, Rest...> {};
template <forks::returnable R, int Kind, forks::callable F, class... Rest>
struct std::coroutine_traits<forks::task<R>, forks::call<Kind, F>, Rest...> {
    using promise_type = forks::promise<R, Kind>;
};
template <forks::returnable R, class... Rest>
struct std::coroutine_traits<forks::task<R>, Rest...> {
    static_assert(never<R>, "not called by fork or call");
};

#if !defined(OFFENCE)
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((forks::returnable R, int Kind, forks::callable F),
                                        forks::task<R>, forks::call<Kind, F>);
#else
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class R), forks::task<R>);
#endif

struct function {
    forks::task<void> member(forks::call<2, function>, int) { co_return; }
};
forks::task<void> forked(forks::call<1, function>, int, int&) { co_return; }
forks::task<void> constant(const forks::call<1, function>) { co_return; }

using forks_call = forks::call<1, function>;
static_assert(coroscope::makes_task<forks::task<void>, forks_call, int, int&>);
static_assert(coroscope::makes_task<forks::task<void>, const forks_call>);
static_assert(coroscope::makes_task<forks::task<void>, function&, forks_call, int>);

// Traits for any parameters with a constraint that is not a concept. No other constraint counts as
// more constrained.
namespace sized {
template <class T>
struct task {};
}  // namespace sized
template <class T, class... Rest>
    requires(sizeof(T) > 1)
struct std::coroutine_traits<sized::task<T>, Rest...> {
    using promise_type = promise_of<sized::task<T>, sizeof...(Rest)>;
};
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), sized::task<T>);
COROSCOPE_INSTRUMENT_TRAITS((class T), (promise_of<sized::task<T>, 0>), sized::task<T>);

sized::task<int> without_parameters() { co_return; }
sized::task<int> with_parameters(int, sized::task<int>&) { co_return; }
static_assert(coroscope::makes_task<sized::task<int>>);
static_assert(coroscope::makes_task<sized::task<int>, int>);
static_assert(coroscope::makes_task<sized::task<int>, int, sized::task<int>&>);

// Traits for exactly these parameters, constrained or not, of a template or of one type.
namespace exact {
template <class T>
struct job {};
struct tag {};
struct single {};
}  // namespace exact
template <class T>
struct std::coroutine_traits<exact::job<T>, exact::tag> {
    using promise_type = promise_of<exact::job<T>, 1>;
};
template <std::integral T>
struct std::coroutine_traits<exact::job<T>, exact::tag, T> {
    using promise_type = promise_of<exact::job<T>, 2>;
};
template <class T>
    requires(sizeof(T) > 1)
struct std::coroutine_traits<exact::single, T> {
    using promise_type = promise_of<exact::single, 3>;
};
COROSCOPE_INSTRUMENT_TRAITS((class T), (promise_of<exact::job<T>, 1>), exact::job<T>, exact::tag);
COROSCOPE_INSTRUMENT_TRAITS((std::integral T), (promise_of<exact::job<T>, 2>), exact::job<T>,
                            exact::tag, T);
COROSCOPE_INSTRUMENT_TRAITS((), (promise_of<exact::single, 3>), exact::single, int);

exact::job<int> job(exact::tag) { co_return; }
exact::job<int> job_of(exact::tag, int) { co_return; }
exact::single single(int) { co_return; }
static_assert(coroscope::makes_task<exact::job<int>, exact::tag>);
static_assert(coroscope::makes_task<exact::job<int>, exact::tag, int>);
static_assert(coroscope::makes_task<exact::single, int>);
#if COROSCOPE_ENABLED
static_assert(!coroscope::makes_task<exact::single, long>);
#endif

// clang: only coroutines, and functions marked as wrappers of a coroutine, may return this type.
#if __has_cpp_attribute(clang::coro_return_type)
#define WRAPPED [[clang::coro_return_type]]
#else
#define WRAPPED
#endif
struct WRAPPED wrapped {
    using promise_type = coroscope::instrumented<promise_of<wrapped, 0>>;
};
wrapped returned() { co_return; }

int main() {
    function().member({}, 1);
    int number = 0;
    forked({}, 1, number);
    constant({});
    sized::task<int> task = without_parameters();
    with_parameters(1, task);
    job({});
    job_of({}, 1);
    single(1);
    returned();
}
