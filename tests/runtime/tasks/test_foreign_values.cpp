// SPDX-License-Identifier: Apache-2.0

// co_return and co_yield in coroutine types of other libraries whose promises have several
// overloads, or keep the address of the value: the same as without instrumentation.

#include <coroscope/instrumented.hpp>

#include <doctest/doctest.h>

#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../support/foreign.hpp"
#include "../support/foreign_frames.hpp"

namespace foreign {

// --- generators that keep the address of the yielded value --------------------------------------------

/// Overloads for lvalues and rvalues. The first is a template, as in a generator that may yield
/// references.
template <class T, class Way>
class pointing_generator {
public:
    struct promise : suspends_at_both_ends {
        pointing_generator get_return_object() noexcept { return pointing_generator(*this); }
        template <class U = T>
            requires(!std::is_rvalue_reference_v<U>)
        std::suspend_always yield_value(std::remove_reference_t<T>& value) noexcept {
            current = std::addressof(value);
            return {};
        }
        std::suspend_always yield_value(std::remove_reference_t<T>&& value) noexcept {
            current = std::addressof(value);
            return {};
        }
        void return_void() const noexcept {}
        std::remove_reference_t<T>* current = nullptr;
    };
    using promise_type = typename promise_in<Way, promise>::type;

    auto& next() {
        owner_.handle.resume();
        return *owner_.handle.promise().current;
    }

private:
    explicit pointing_generator(promise& of) noexcept : owner_(of) {}
    frame_owner<promise> owner_;
};

/// One template for all yielded values. Only its body restricts the types.
template <class T, class Way>
class keeping_generator {
public:
    struct promise : suspends_at_both_ends {
        keeping_generator get_return_object() noexcept { return keeping_generator(*this); }
        template <class U>
        auto yield_value(U&& value) {
            current.emplace(std::forward<U>(value));
            return std::suspend_always();
        }
        void return_void() const noexcept {}
        std::optional<T> current;
    };
    using promise_type = typename promise_in<Way, promise>::type;

    T next() {
        owner_.handle.resume();
        return std::move(*owner_.handle.promise().current);
    }

private:
    explicit keeping_generator(promise& of) noexcept : owner_(of) {}
    frame_owner<promise> owner_;
};

/// The overload of the standard's generator for values, and another one for a tag.
template <class T, class Way>
class tagged_generator {
public:
    struct twice {
        const T& value;
    };
    struct promise : suspends_at_both_ends {
        tagged_generator get_return_object() noexcept { return tagged_generator(*this); }
        std::suspend_always yield_value(const T& value) noexcept {
            current = std::addressof(value);
            times = 1;
            return {};
        }
        std::suspend_always yield_value(twice of) noexcept {
            current = std::addressof(of.value);
            times = 2;
            return {};
        }
        void return_void() const noexcept {}
        const T* current = nullptr;
        int times = 0;
    };
    using promise_type = typename promise_in<Way, promise>::type;

    const T& next() {
        owner_.handle.resume();
        return *owner_.handle.promise().current;
    }
    int times() const { return owner_.handle.promise().times; }

private:
    explicit tagged_generator(promise& of) noexcept : owner_(of) {}
    frame_owner<promise> owner_;
};

// --- results ------------------------------------------------------------------------------------------

/// return_value is a template whose parameter defaults to the result's type.
template <class T, class Way>
struct defaulted_result {
    struct promise : suspends_at_both_ends {
        auto get_return_object() noexcept { return defaulted_result(*this); }
        template <class U = T>
        void return_value(U&& value) {
            result = std::forward<U>(value);
        }
        T result{};
    };
    using promise_type = typename promise_in<Way, promise>::type;
    explicit defaulted_result(promise& of) noexcept : owner(of) {}
    const T& run() {
        owner.handle.resume();
        return owner.handle.promise().result;
    }
    frame_owner<promise> owner;
};

/// return_value for lvalues and for rvalues.
template <class T, class Way>
struct overloaded_result {
    struct promise : suspends_at_both_ends {
        auto get_return_object() noexcept { return overloaded_result(*this); }
        void return_value(const T& value) { result = value; }
        void return_value(T&& value) { result = std::move(value); }
        T result{};
    };
    using promise_type = typename promise_in<Way, promise>::type;
    explicit overloaded_result(promise& of) noexcept : owner(of) {}
    const T& run() {
        owner.handle.resume();
        return owner.handle.promise().result;
    }
    frame_owner<promise> owner;
};

}  // namespace foreign

COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T),
                                        foreign::pointing_generator<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::keeping_generator<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::tagged_generator<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::defaulted_result<T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), foreign::overloaded_result<T, foreign::outside>);

using namespace coroscope;
using namespace coroscope::test;

namespace {

struct two {
    int left = 0;
    int right = 0;
};

template <class Way>
foreign::pointing_generator<std::string, Way> texts() {
    co_yield long_text;
    std::string own = "own";
    co_yield own;
    co_yield std::string(long_text);
}
template <class Way>
foreign::pointing_generator<const double, Way> numbers() {
    co_yield 1;
    const double own = 2.5;
    co_yield own;
}
template <class Way>
foreign::pointing_generator<int&, Way> references(int& own) {
    co_yield own;
}
template <class Way>
foreign::pointing_generator<two, Way> lists() {
    co_yield {1, 2};
}
template <class Way>
foreign::keeping_generator<std::unique_ptr<int>, Way> movable() {
    co_yield std::make_unique<int>(1);
    auto own = std::make_unique<int>(2);
    co_yield std::move(own);
    co_yield nullptr;
}
template <class Way>
foreign::tagged_generator<std::string, Way> tagged() {
    co_yield long_text;
    const std::string own = "own";
    co_yield {own};
    co_yield typename foreign::tagged_generator<std::string, Way>::twice{own};
}

template <class Way>
foreign::defaulted_result<two, Way> defaulted(bool list) {
    if (list) co_return {3, 4};
    co_return two{5, 6};
}
template <class Way>
foreign::overloaded_result<std::vector<int>, Way> overloaded(bool list) {
    if (list) co_return {1, 2, 3};
    std::vector<int> own(5);
    co_return own;
}

}  // namespace

TYPE_TO_STRING_AS("plain", foreign::plain);
TYPE_TO_STRING_AS("declared", foreign::declared);
TYPE_TO_STRING_AS("outside", foreign::outside);

TEST_SUITE("foreign coroutine types") {
    TEST_CASE_TEMPLATE("the result of a conversion in co_yield lives as long as the suspension",
                       Way, foreign::plain, foreign::declared, foreign::outside) {
        auto all = texts<Way>();
        CHECK(all.next() == long_text);
        CHECK(all.next() == "own");
        CHECK(all.next() == long_text);
        auto values = numbers<Way>();
        CHECK(values.next() == 1);
        CHECK(values.next() == 2.5);
        auto others = tagged<Way>();
        CHECK(others.next() == long_text);
    }

    TEST_CASE_TEMPLATE("each form of co_yield finds its overload", Way, foreign::plain,
                       foreign::declared, foreign::outside) {
        int own = 7;
        CHECK(&references<Way>(own).next() == &own);
        CHECK(lists<Way>().next().right == 2);
        auto others = tagged<Way>();
        others.next();
        CHECK(others.next() == "own");
        CHECK(others.times() == 1);
        CHECK(others.next() == "own");
        CHECK(others.times() == 2);
    }

    TEST_CASE_TEMPLATE(
        "a template that does not compile for constants is not instantiated for them", Way,
        foreign::plain, foreign::declared, foreign::outside) {
        auto values = movable<Way>();
        CHECK(*values.next() == 1);
        CHECK(*values.next() == 2);
        CHECK(values.next() == nullptr);
    }

    TEST_CASE_TEMPLATE("a list in braces may be returned to a template and to overloads", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        CHECK(defaulted<Way>(true).run().right == 4);
        CHECK(defaulted<Way>(false).run().right == 6);
        CHECK(overloaded<Way>(true).run().size() == 3);
        CHECK(overloaded<Way>(false).run().size() == 5);
    }
}
