// SPDX-License-Identifier: Apache-2.0

// Overload resolution among the functions of another library's promise is the same as without
// instrumentation, also for a list in braces, from which no template can deduce a type. The body of
// a template is instantiated only for the program's own types.

#include <coroscope/instrumented.hpp>

#include <doctest/doctest.h>

#include <coroutine>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../support/foreign.hpp"
#include "../support/foreign_frames.hpp"

namespace foreign {

struct unit {};

struct note {
    std::string called;
};

// --- sets of overloads, from which a promise inherits ---------------------------------------------------

struct template_and_unit : note {
    template <class Value>
    void return_value(Value&&) {
        called = "template";
    }
    void return_value(unit) { called = "unit"; }
};

struct template_and_pair : note {
    template <class Value>
        requires(!std::is_pointer_v<Value>)
    void return_value(Value&&) {
        called = "template";
    }
    void return_value(std::pair<int, std::string> value) {
        called = std::to_string(value.first) + value.second;
    }
};

struct number_and_text : note {
    void return_value(double value) { called = "number " + std::to_string(int(value)); }
    void return_value(std::string value) { called = "text " + value; }
};

struct list_and_text : note {
    void return_value(std::initializer_list<int> values) {
        called = "list " + std::to_string(values.size());
    }
    void return_value(const std::string& value) { called = "text " + value; }
};

template <class T>
struct defaulted_and_unit : note {
    template <class Value = T>
    void return_value(Value&& value) {
        if constexpr (std::is_same_v<std::remove_cvref_t<Value>, T>) called = value.back();
    }
    void return_value(unit) { called = "unit"; }
};

template <class T>
struct constant_and_movable : note {
    void return_value(const T& value) { called = "copied " + value.back().second; }
    void return_value(T&& value) { called = "moved " + value.back().second; }
};

struct pointer_and_unit : note {
    void return_value(std::unique_ptr<int> value) { called = value ? "pointer" : "null"; }
    void return_value(const unit&) { called = "unit"; }
};

struct only_pointer : note {
    void return_value(const char* value) { called = value == nullptr ? "null" : value; }
};

struct only_text : note {
    void return_value(std::string value) { called = value; }
};

struct count_and_unit : note {
    void return_value(int value) { called = std::to_string(value); }
    void return_value(unit) { called = "unit"; }
};

struct only_reference : note {
    void return_value(int& value) { value = 7; }
};

/// The body compiles for texts only.
class deduced_result : public note {
public:
    template <class Value>
    auto return_value(Value&& value) {
        called = std::string("deduced ") + value;
        return 0;
    }
    auto return_value(unit) {
        called = "unit";
        return 1;
    }

private:
    void return_value(std::reference_wrapper<int>) { called = "private"; }
};

struct brought_in : private template_and_unit {
    using note::called;
    using template_and_unit::return_value;
};

/// `T` is the result in the name of a coroutine type.
template <class Set, class T, class Way>
struct returning {
    struct promise final : suspends_at_both_ends, Set {
        returning get_return_object() noexcept { return returning(*this); }
    };
    using promise_type = typename promise_in<Way, promise>::type;
    explicit returning(promise& of) noexcept : owner(of) {}
    std::string run() {
        owner.handle.resume();
        return owner.handle.promise().called;
    }
    frame_owner<promise> owner;
};

// --- generators -----------------------------------------------------------------------------------------

/// The body compiles for lvalues of one type only, and the result type is deduced from it.
struct pointing_template : note {
    template <class Value>
    auto yield_value(Value&& value) {
        current = std::addressof(value);
        called = "template";
        return std::suspend_always();
    }
    int* current = nullptr;
};

struct template_and_tag : note {
    template <class Value>
    auto yield_value(Value&& value) {
        called = std::string("template ") + value;
        return std::suspend_always();
    }
    auto yield_value(unit) {
        called = "unit";
        return std::suspend_always();
    }
};

/// A template takes every rvalue, and the other overload takes a list.
template <class T>
struct template_and_constant : note {
    template <class Value>
    std::suspend_always yield_value(Value&&) {
        called = "template";
        return {};
    }
    std::suspend_always yield_value(const T& value) {
        called = "constant " + std::to_string(value.second);
        return {};
    }
};

template <class Set, class T, class Way>
struct yielding {
    struct promise : suspends_at_both_ends, Set {
        yielding get_return_object() noexcept { return yielding(*this); }
        void return_void() const noexcept {}
    };
    using promise_type = typename promise_in<Way, promise>::type;
    explicit yielding(promise& of) noexcept : owner(of) {}
    std::string next() {
        owner.handle.resume();
        return owner.handle.promise().called;
    }
    frame_owner<promise> owner;
};

/// Templates for any arguments, whose bodies take one argument or none.
template <class Way>
struct variadic {
    struct promise : suspends_at_both_ends {
        template <class... None>
        auto get_return_object(None&&...) {
            static_assert(sizeof...(None) == 0);
            return variadic(*this);
        }
        template <class Operand, class... None>
        auto await_transform(Operand&& operand, None&&...) {
            static_assert(sizeof...(None) == 0);
            awaited += operand;
            return std::suspend_never();
        }
        void return_void() const noexcept {}
        int awaited = 0;
    };
    using promise_type = typename promise_in<Way, promise>::type;
    explicit variadic(promise& of) noexcept : owner(of) {}
    int run() {
        owner.handle.resume();
        return owner.handle.promise().awaited;
    }
    frame_owner<promise> owner;
};

}  // namespace foreign

COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class S, class T),
                                        foreign::returning<S, T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class S, class T),
                                        foreign::yielding<S, T, foreign::outside>);
COROSCOPE_INSTRUMENT_COROUTINE(foreign::variadic<foreign::outside>);

using namespace coroscope::test;

namespace {

using foreign::returning;
using foreign::unit;
using foreign::yielding;
using rows = std::vector<std::pair<int, std::string>>;
using numbers = std::pair<int, int>;
using texts = std::vector<std::string>;

template <class Set, class Way>
returning<Set, int, Way> nothing() {
    co_return {};
}
template <class Set, class Way>
returning<Set, int, Way> number() {
    co_return 5;
}
template <class Set, class Way>
returning<Set, int, Way> one_unit() {
    co_return unit();
}
template <class Way>
returning<foreign::template_and_pair, std::string, Way> pair(std::string text) {
    co_return {1, std::move(text)};
}

template <class Way>
returning<foreign::number_and_text, std::string, Way> braced_number(int form) {
    const double half = 2.5;
    if (form == 0) co_return {};
    co_return {half};
}
template <class Way>
returning<foreign::number_and_text, std::string, Way> braced_text(int form) {
    const std::string own = "own";
    if (form == 0) co_return {own};
    if (form == 1) co_return {own, 1};
    co_return own;
}

template <class Way>
returning<foreign::list_and_text, std::string, Way> list(int form) {
    const int three = 3;
    if (form == 0) co_return {1, 2, three};
    if (form == 1) co_return {three};
    if (form == 2) co_return {"text"};
    co_return {};
}

template <class Way>
returning<foreign::defaulted_and_unit<texts>, texts, Way> defaulted(int form) {
    if (form == 0) co_return {"a", "b"};
    if (form == 1) co_return {2, "c"};
    co_return unit();
}

template <class Way>
returning<foreign::constant_and_movable<rows>, rows, Way> nested(int form) {
    rows own = {{1, "own"}};
    const rows fixed = {{1, "fixed"}};
    if (form == 0) co_return {{1, "a"}, {2, "b"}};
    if (form == 1) co_return own;
    if (form == 2) co_return {own};
    co_return fixed;
}

template <class Way>
returning<foreign::pointer_and_unit, unit, Way> pointer(int form) {
    auto own = std::make_unique<int>(1);
    if (form == 0) co_return own;
    if (form == 1) co_return {std::move(own)};
    if (form == 2) co_return nullptr;
    co_return unit();
}
template <class Way>
returning<foreign::only_pointer, unit, Way> null() {
    co_return 0;  // NOLINT(modernize-use-nullptr): a null pointer by 0 is tested
}
template <class Way>
returning<foreign::only_text, unit, Way> text(int form) {
    std::string own = "own";
    const std::string fixed = "fixed";
    if (form == 0) co_return {own};
    if (form == 1) co_return {fixed};
    if (form == 2) co_return {own, 1};
    co_return {};
}
template <class Way>
returning<foreign::count_and_unit, int, Way> count() {
    const int own = 3;
    co_return {own};
}
template <class Way>
returning<foreign::only_reference, int&, Way> reference(int& into, bool list) {
    if (list) co_return {into};
    co_return into;
}
template <class Way>
returning<foreign::deduced_result, int, Way> deduced(bool list) {
    if (list) co_return {};
    co_return "text";
}

template <class Way>
yielding<foreign::pointing_template, std::string, Way> counts() {
    for (int at = 0; at < 2; ++at) co_yield at;
}
template <class Way>
yielding<foreign::template_and_tag, int, Way> tags() {
    co_yield {};
    co_yield "text";
    co_yield unit();
}
template <class Way>
yielding<foreign::template_and_constant<numbers>, numbers, Way> constants() {
    co_yield {1, 2};
    co_yield numbers();
    const numbers own(1, 3);
    co_yield own;
    co_yield 1;
}

template <class Way>
foreign::variadic<Way> awaits() {
    co_await 1;
    co_await 2;
}

}  // namespace

TYPE_TO_STRING_AS("plain", foreign::plain);
TYPE_TO_STRING_AS("declared", foreign::declared);
TYPE_TO_STRING_AS("outside", foreign::outside);

TEST_SUITE("foreign overloads") {
    TEST_CASE_TEMPLATE(
        "an empty list is returned to the function that it can initialise, and to no template", Way,
        foreign::plain, foreign::declared, foreign::outside) {
        CHECK(nothing<foreign::template_and_unit, Way>().run() == "unit");
        CHECK(nothing<foreign::brought_in, Way>().run() == "unit");
        CHECK(number<foreign::template_and_unit, Way>().run() == "template");
        CHECK(one_unit<foreign::template_and_unit, Way>().run() == "unit");
        CHECK(braced_number<Way>(0).run() == "number 0");
        CHECK(list<Way>(3).run() == "list 0");
    }

    TEST_CASE_TEMPLATE("a list with elements is returned to the function that it can initialise",
                       Way, foreign::plain, foreign::declared, foreign::outside) {
        CHECK(pair<Way>(long_text).run() == std::string("1") + long_text);
        CHECK(number<foreign::template_and_pair, Way>().run() == "template");
        CHECK(braced_number<Way>(1).run() == "number 2");
        CHECK(braced_text<Way>(0).run() == "text own");
        CHECK(braced_text<Way>(1).run() == "text wn");
        CHECK(braced_text<Way>(2).run() == "text own");
        CHECK(list<Way>(0).run() == "list 3");
        CHECK(list<Way>(1).run() == "list 1");
        CHECK(list<Way>(2).run() == "text text");
        CHECK(defaulted<Way>(0).run() == "b");
        CHECK(defaulted<Way>(2).run() == "unit");
        CHECK(text<Way>(0).run() == "own");
        CHECK(text<Way>(1).run() == "fixed");
        CHECK(text<Way>(2).run() == "wn");
        CHECK(text<Way>(3).run().empty());
        CHECK(count<Way>().run() == "3");
        CHECK(nested<Way>(0).run() == "moved b");
        CHECK(nested<Way>(2).run() == "copied own");
    }

    TEST_CASE_TEMPLATE("variables and null pointers are returned as they are", Way, foreign::plain,
                       foreign::declared, foreign::outside) {
        CHECK(nested<Way>(1).run() == "moved own");
        CHECK(nested<Way>(3).run() == "copied fixed");
        CHECK(pointer<Way>(0).run() == "pointer");
        CHECK(pointer<Way>(1).run() == "pointer");
        CHECK(pointer<Way>(2).run() == "null");
        CHECK(pointer<Way>(3).run() == "unit");
        CHECK(null<Way>().run() == "null");
        for (const bool list : {false, true}) {
            int own = 0;
            reference<Way>(own, list).run();
            CHECK(own == 7);
        }
    }

    TEST_CASE_TEMPLATE("a template's body is instantiated for the types that the coroutine uses",
                       Way, foreign::plain, foreign::declared, foreign::outside) {
        CHECK(deduced<Way>(true).run() == "unit");
        CHECK(deduced<Way>(false).run() == "deduced text");
        CHECK(counts<Way>().next() == "template");
        CHECK(awaits<Way>().run() == 3);
    }

    TEST_CASE_TEMPLATE("a list is yielded to the function that it can initialise", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        auto all = tags<Way>();
        CHECK(all.next() == "unit");
        CHECK(all.next() == "template text");
        CHECK(all.next() == "unit");
        auto values = constants<Way>();
        CHECK(values.next() == "constant 2");
        CHECK(values.next() == "template");
        CHECK(values.next() == "constant 3");
        CHECK(values.next() == "template");
    }
}
