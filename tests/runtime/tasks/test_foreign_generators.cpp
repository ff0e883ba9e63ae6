// SPDX-License-Identifier: Apache-2.0

// Generators with the overloads of the standard's generator: one copies a constant value and
// deduces its result. Its body is instantiated only if the coroutine yields such a value.

#include <coroscope/instrumented.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../support/foreign.hpp"
#include "../support/foreign_frames.hpp"

namespace foreign {

struct note {
    std::string called;
};

template <class Value>
struct elements {
    std::vector<Value>& of;
};

/// The body of `yield_value(const Value&)` copies the value.
template <class Value>
struct copying : note {
    struct copy : std::suspend_always {
        Value value;
    };

    std::suspend_always yield_value(Value&& value) noexcept {
        current = std::addressof(value);
        called = "moved";
        return {};
    }
    auto yield_value(const Value& value) {
        copy awaiter{{}, value};
        called = "copied";
        return awaiter;
    }

    Value* current = nullptr;
};

template <class Value>
struct constrained : note {
    std::suspend_always yield_value(Value&& value) noexcept {
        current = std::addressof(value);
        called = "moved";
        return {};
    }
    auto yield_value(const Value& value)
        requires std::constructible_from<Value, const Value&>
    {
        typename copying<Value>::copy awaiter{{}, value};
        called = "copied";
        return awaiter;
    }
    template <class Other>
    std::suspend_always yield_value(elements<Other> range) noexcept {
        called = "elements " + std::to_string(range.of.size());
        return {};
    }

    Value* current = nullptr;
};

/// A template takes each rvalue of another type, and compiles for few of them.
template <class Value>
struct constant_functions : note {
    std::suspend_always yield_value(Value&&) const {
        const_cast<constant_functions*>(this)->called = "moved";
        return {};
    }
    auto yield_value(const Value& value) const {
        typename copying<Value>::copy awaiter{{}, value};
        const_cast<constant_functions*>(this)->called = "copied";
        return awaiter;
    }
    template <class Number>
    auto yield_value(Number number) const {
        const_cast<constant_functions*>(this)->called = std::to_string(number + 1);
        return std::suspend_always();
    }
};

template <class Value>
struct on_lvalue : note {
    std::suspend_always yield_value(Value&&) & {
        called = "moved";
        return {};
    }
    auto yield_value(const Value& value) & {
        typename copying<Value>::copy awaiter{{}, value};
        called = "copied";
        return awaiter;
    }
};

/// A list of one such value would be a value with one element.
struct any_value {
    any_value(int) {}  // NOLINT(google-explicit-constructor): as in libraries for JSON
    any_value(std::initializer_list<any_value> all) : elements(all.size()) {}
    std::size_t elements = 0;
};

struct any_or_tag : note {
    struct tag {};
    std::suspend_always yield_value(const any_value& value) {
        called = std::to_string(value.elements);
        return {};
    }
    std::suspend_always yield_value(tag) {
        called = "tag";
        return {};
    }
};

/// Elements that are constant are yielded as if they were not.
template <class Element>
struct of_constants : note {
    using value_type = std::remove_cv_t<Element>;
    std::suspend_always yield_value(value_type&& value) {
        called = "moved " + value;
        return {};
    }
    std::suspend_always yield_value(const value_type& value) {
        called = "constant " + value;
        return {};
    }
};

/// The value of a kept address is converted, and the others are not.
struct truth_and_others : note {
    std::suspend_always yield_value(bool&& value) {
        current = &value;
        called = "truth";
        return {};
    }
    std::suspend_always yield_value(const char* text) {
        called = text;
        return {};
    }
    std::suspend_always yield_value(std::nullptr_t) {
        called = "end";
        return {};
    }
    template <class Element>
    std::suspend_always yield_value(elements<Element>) {
        called = "elements";
        return {};
    }
    bool* current = nullptr;
};

struct shape {
    shape() = default;
    shape(const shape&) = default;
    virtual ~shape() = default;
    virtual std::string name() const = 0;
};
struct circle : shape {
    std::string name() const override { return "circle"; }
};

/// An abstract class cannot be passed by value.
struct of_shapes : note {
    std::suspend_always yield_value(shape&& value) {
        called = "moved " + value.name();
        return {};
    }
    std::suspend_always yield_value(const shape& value) {
        called = "constant " + value.name();
        return {};
    }
};

/// yield_value is no function.
struct by_object : note {
    struct yielder {
        std::string* called;
        std::suspend_always operator()(int value) const {
            *called = std::to_string(value);
            return {};
        }
    };
    yielder yield_value{&called};
};

template <class Set, class Value, class Way>
struct generating {
    struct promise : suspends_at_both_ends, Set {
        generating get_return_object() noexcept { return generating(*this); }
        void return_void() const noexcept {}
    };
    using promise_type = typename promise_in<Way, promise>::type;
    explicit generating(promise& of) noexcept : owner(of) {}
    promise& next() {
        owner.handle.resume();
        return owner.handle.promise();
    }
    frame_owner<promise> owner;
};

}  // namespace foreign

COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class S, class V),
                                        foreign::generating<S, V, foreign::outside>);

namespace {

using foreign::generating;
using owner = std::unique_ptr<int>;
using owners = std::vector<owner>;

template <class Set, class Way>
generating<Set, owner, Way> pointers() {
    co_yield std::make_unique<int>(1);
    co_yield nullptr;
    co_yield {};
}
template <class Set, class Way>
generating<Set, owners, Way> lists() {
    owners own(2);
    co_yield std::move(own);
    co_yield {};
    co_yield owners(3);
}
template <class Set, class Way>
generating<Set, std::string, Way> texts() {
    const std::string own = "own";
    co_yield own;
    co_yield {own};
    co_yield {own, 1};
    co_yield "text";
}
template <class Way>
generating<foreign::constrained<owners>, owners, Way> ranges() {
    std::vector<int> own(5);
    co_yield foreign::elements<int>{own};
}
template <class Way>
generating<foreign::constant_functions<owners>, owners, Way> numbers() {
    co_yield owners(1);
    co_yield 4;
}
template <class Way>
generating<foreign::any_or_tag, foreign::any_value, Way> values() {
    co_yield 5;
    co_yield foreign::any_or_tag::tag();
}

template <class Way>
generating<foreign::of_constants<const std::string>, const std::string, Way> constants() {
    const std::string own = "own";
    co_yield "text";
    co_yield own;
    co_yield std::string("temporary");
}
template <class Way>
generating<foreign::truth_and_others, bool, Way> truths() {
    std::vector<int> own;
    co_yield 5;
    co_yield "text";
    co_yield nullptr;
    co_yield foreign::elements<int>{own};
}
template <class Way>
generating<foreign::of_shapes, foreign::shape, Way> shapes() {
    const foreign::circle own;
    co_yield own;
    co_yield {foreign::circle()};
}
template <class Way>
generating<foreign::by_object, int, Way> objects() {
    co_yield 3;
}

template <class Set, class Way>
void check_pointers() {
    auto all = pointers<Set, Way>();
    CHECK(**all.next().current == 1);
    CHECK(*all.next().current == nullptr);
    CHECK(*all.next().current == nullptr);
}
template <class Set, class Way>
void check_lists() {
    auto all = lists<Set, Way>();
    CHECK(all.next().current->size() == 2);
    CHECK(all.next().current->empty());
    CHECK(all.next().current->size() == 3);
}
template <class Set, class Way>
void check_texts() {
    auto all = texts<Set, Way>();
    CHECK(all.next().called == "copied");
    CHECK(all.next().called == "copied");
    CHECK(all.next().called == "moved");
    CHECK(all.next().called == "moved");
}

}  // namespace

TYPE_TO_STRING_AS("plain", foreign::plain);
TYPE_TO_STRING_AS("declared", foreign::declared);
TYPE_TO_STRING_AS("outside", foreign::outside);

TEST_SUITE("foreign generators") {
    TEST_CASE_TEMPLATE("a generator that could copy yields values that cannot be copied", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        check_pointers<foreign::copying<owner>, Way>();
        check_pointers<foreign::constrained<owner>, Way>();
        check_lists<foreign::copying<owners>, Way>();
        check_lists<foreign::constrained<owners>, Way>();
        auto all = lists<foreign::on_lvalue<owners>, Way>();
        CHECK(all.next().called == "moved");
    }

    TEST_CASE_TEMPLATE("a generator copies constant values and moves others", Way, foreign::plain,
                       foreign::declared, foreign::outside) {
        check_texts<foreign::copying<std::string>, Way>();
        check_texts<foreign::constrained<std::string>, Way>();
        check_texts<foreign::on_lvalue<std::string>, Way>();
    }

    TEST_CASE_TEMPLATE("templates beside such overloads are called for their own types", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        CHECK(ranges<Way>().next().called == "elements 5");
        auto all = numbers<Way>();
        CHECK(all.next().called == "moved");
        CHECK(all.next().called == "5");
    }

    TEST_CASE_TEMPLATE("a value that could be its own list is yielded as it is", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        auto all = values<Way>();
        CHECK(all.next().called == "0");
        CHECK(all.next().called == "tag");
    }

    TEST_CASE_TEMPLATE("constant elements are moved if the program gives them up", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        auto all = constants<Way>();
        CHECK(all.next().called == "moved text");
        CHECK(all.next().called == "constant own");
        CHECK(all.next().called == "moved temporary");
    }

    TEST_CASE_TEMPLATE("numbers are converted only if no other overload is a better match", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        auto all = truths<Way>();
        auto& first = all.next();
        CHECK(first.called == "truth");
        CHECK(*first.current);
        CHECK(all.next().called == "text");
        CHECK(all.next().called == "end");
        CHECK(all.next().called == "elements");
    }

    TEST_CASE_TEMPLATE("references to abstract classes are yielded", Way, foreign::plain,
                       foreign::declared, foreign::outside) {
        auto all = shapes<Way>();
        CHECK(all.next().called == "constant circle");
        CHECK(all.next().called == "moved circle");
    }

    TEST_CASE_TEMPLATE("a value is yielded to a callable object", Way, foreign::plain,
                       foreign::declared, foreign::outside) {
        CHECK(objects<Way>().next().called == "3");
    }
}
