// SPDX-License-Identifier: Apache-2.0

// Senders that declare their signatures, connect and complete in each possible form.

#include <coroscope/integration/senders.hpp>

#include <string_view>

#include "sender_library.hpp"
#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;

// The content of the namespace of C++26's senders.
namespace standard {
using calls = library<false>;
inline constexpr calls::connect_t connect = {};
inline constexpr calls::start_t start = {};
inline constexpr calls::set_value_t set_value = {};
inline constexpr calls::set_error_t set_error = {};
inline constexpr calls::set_stopped_t set_stopped = {};
inline constexpr calls::get_env_t get_env = {};
template <class Sender, class... Environment>
consteval auto get_completion_signatures() {
    return decltype(calls::get_completion_signatures_t()(std::declval<Sender>(),
                                                         std::declval<Environment>()...))();
}
}  // namespace standard
COROSCOPE_SENDER_LIBRARY(standard_senders, standard);

namespace {

using members = library<false>;
using tagged = library<true>;

struct outcome {
    std::string_view how;
    int value = 0;
};
struct numbered_env {
    int number = 0;
};

/// Keeps the kind of its completion. Its environment is a number.
template <class Library>
struct receiver {
    using receiver_concept = receiver_tag;
    outcome* into;
    int number = 17;
    void set_value(int value) && noexcept { *into = {"value", value}; }
    void set_value(std::unique_ptr<int> value) && noexcept { *into = {"moved", *value}; }
    void set_error(int error) && noexcept { *into = {"error", error}; }
    void set_stopped() && noexcept { *into = {"stopped", 0}; }
    numbered_env get_env() const noexcept { return {number}; }
};

/// The same, by tag_invoke only.
struct tag_receiver {
    using receiver_concept = receiver_tag;
    outcome* into;
    friend void tag_invoke(tagged::set_value_t, tag_receiver&& self, int value) noexcept {
        *self.into = {"value", value};
    }
    friend void tag_invoke(tagged::set_error_t, tag_receiver&& self, int error) noexcept {
        *self.into = {"error", error};
    }
    friend void tag_invoke(tagged::set_stopped_t, tag_receiver&& self) noexcept {
        *self.into = {"stopped", 0};
    }
    friend numbered_env tag_invoke(tagged::get_env_t, const tag_receiver&) noexcept { return {18}; }
};

/// Completes with a value as soon as it is started.
template <class Library, class Receiver>
struct value_operation {
    using operation_state_concept = operation_tag;
    Receiver to;
    int value;
    void start() noexcept { typename Library::set_value_t()(std::move(to), std::move(value)); }
};

template <class Library>
struct connects_to_value {
    using sender_concept = sender_tag;
    int value = 3;
    template <class Receiver>
    auto connect(Receiver to) const {
        return value_operation<Library, Receiver>{std::move(to), value};
    }
};

template <class Library>
using sends_int = completion_signatures<typename Library::set_value_t(int)>;
template <class Library>
using sends_nothing = completion_signatures<typename Library::set_stopped_t()>;
/// The signatures of a sender that depend on the environment.
template <class Library, class... Environment>
using sends_by = std::conditional_t<(std::is_same_v<Environment, numbered_env> || ...),
                                    sends_int<Library>, sends_nothing<Library>>;

template <class Library>
struct nested_signatures : connects_to_value<Library> {
    using completion_signatures = sends_int<Library>;
};
template <class Library>
struct static_signatures : connects_to_value<Library> {
    template <class Self, class... Environment>
    static consteval auto get_completion_signatures() {
        return sends_int<Library>();
    }
};
/// Has no signatures without an environment.
template <class Library>
struct dependent_signatures : connects_to_value<Library> {
    template <class Self, class Environment>
    static consteval auto get_completion_signatures() {
        return sends_by<Library, Environment>();
    }
};
/// Returns another type than signatures without an environment.
template <class Library>
struct reporting_signatures : connects_to_value<Library> {
    struct depends_on_environment {};
    template <class Self, class... Environment>
    static consteval auto get_completion_signatures() {
        if constexpr (sizeof...(Environment) == 0) {
            return depends_on_environment();
        } else {
            return sends_by<Library, Environment...>();
        }
    }
};
template <class Library>
struct member_signatures : connects_to_value<Library> {
    template <class Environment>
    auto get_completion_signatures(const Environment&) const {
        return sends_by<Library, Environment>();
    }
};
/// All functions by tag_invoke, also those of the operation.
struct tag_signatures {
    using is_sender = void;
    int value = 3;
    template <class Receiver>
    struct operation {
        Receiver to;
        int value;
        friend void tag_invoke(tagged::start_t, operation& self) noexcept {
            tagged::set_value_t()(std::move(self.to), std::move(self.value));
        }
    };
    template <class Receiver>
    friend auto tag_invoke(tagged::connect_t, tag_signatures self, Receiver to) {
        return operation<Receiver>{std::move(to), self.value};
    }
    template <class Environment>
    friend auto tag_invoke(tagged::get_completion_signatures_t, const tag_signatures&,
                           const Environment&) noexcept {
        return sends_by<tagged, Environment>();
    }
    friend int tag_invoke(tagged::get_env_t, const tag_signatures&) noexcept { return 5; }
};

/// The library connects another sender instead, with twice the number of the receiver's
/// environment.
template <class Library>
struct replaced_sender {
    using sender_concept = sender_tag;
    using completion_signatures = sends_int<Library>;
    nested_signatures<Library> replaced(const numbered_env& environment) const {
        return {{2 * environment.number}};
    }
    template <class Receiver>
    auto connect(Receiver to) const {  // must not be called
        return value_operation<Library, Receiver>{std::move(to), -1};
    }
};

/// Only the library's function objects may call its members, as with a library's own types.
class guarded_receiver {
public:
    using receiver_concept = receiver_tag;
    explicit guarded_receiver(outcome& into) : into_(&into) {}

private:
    friend members::set_value_t;
    friend members::get_env_t;
    void set_value(int value) && noexcept { *into_ = {"value", value}; }
    numbered_env get_env() const noexcept { return {9}; }
    outcome* into_;
};
class guarded_sender {
public:
    using sender_concept = sender_tag;
    using completion_signatures = sends_int<members>;

private:
    friend members::connect_t;
    template <class Receiver>
    class operation {
    public:
        using operation_state_concept = operation_tag;
        explicit operation(Receiver to) : to_(std::move(to)) {}

    private:
        friend members::start_t;
        void start() noexcept {
            members::set_value_t()(std::move(to_), members::get_env(to_).number);
        }
        Receiver to_;
    };
    template <class Receiver>
    auto connect(Receiver to) const {
        return operation<Receiver>(std::move(to));
    }
};

/// Fails if its range passes the replaced algorithm on.
struct runs_itself : nested_signatures<tagged> {
    template <class Receiver>
    friend void tag_invoke(tagged::run_t, const runs_itself&, Receiver&&) noexcept {
        FAIL("run without its range");
    }
};

/// Runs the sender under a range. Checks that there was one range and that it ended.
template <class Library, class Sender, class Receiver>
void check_one_range(Sender&& sender, Receiver to) {
    recording session;
    Library::run(std::forward<Sender>(sender), std::move(to));
    const recorded found = session.stop();
    CHECK((found.event("operation").flags & analysis::event_open) == 0);
}

template <class Library, class Sender>
void check_signatures() {
    using with_range = decltype(traced(Sender(), "operation"));
    using without = typename Library::empty_env;
    static_assert(std::is_same_v<typename Library::template signatures_of<with_range, numbered_env>,
                                 typename Library::template signatures_of<Sender, numbered_env>>);
    static_assert(std::is_same_v<typename Library::template signatures_of<with_range, without>,
                                 typename Library::template signatures_of<Sender, without>>);
    static_assert(is_sender<with_range>);
    outcome seen;
    check_one_range<Library>(traced(Sender(), "operation"), receiver<Library>{&seen});
    CHECK(seen.how == "value");
    CHECK(seen.value == 3);
    check_one_range<Library>(traced(traced(Sender(), "operation"), "around it"),
                             receiver<Library>{&seen});
}

}  // namespace

TEST_SUITE("senders of libraries") {
    TEST_CASE(
        "a traced sender has the signatures of its sender, in whichever form it declares them") {
        check_signatures<members, nested_signatures<members>>();
        check_signatures<members, static_signatures<members>>();
        check_signatures<members, dependent_signatures<members>>();
        check_signatures<members, member_signatures<members>>();
        check_signatures<tagged, nested_signatures<tagged>>();
        check_signatures<tagged, static_signatures<tagged>>();
        check_signatures<tagged, dependent_signatures<tagged>>();
        check_signatures<tagged, reporting_signatures<tagged>>();
        check_signatures<tagged, member_signatures<tagged>>();
        check_signatures<tagged, tag_signatures>();
    }

    TEST_CASE("a sender that its library replaces in connect() is replaced under the range, too") {
        outcome seen;
        check_one_range<tagged>(traced(replaced_sender<tagged>(), "operation"),
                                receiver<tagged>{&seen});
        CHECK(seen.value == 34);
        check_one_range<tagged>(traced(replaced_sender<tagged>(), "operation", tagged::connect_t()),
                                receiver<tagged>{&seen, 4});
        CHECK(seen.value == 8);
        check_one_range<members>(
            traced(replaced_sender<members>(), "operation", members::connect_t()),
            receiver<members>{&seen, 5});
        CHECK(seen.value == 10);
    }

    TEST_CASE(
        "private members that are friends of a library's function objects are called by them") {
        outcome seen;
        check_one_range<members>(traced(guarded_sender(), "operation", standard_senders()),
                                 guarded_receiver(seen));
        CHECK(seen.value == 9);
        check_one_range<members>(
            traced(replaced_sender<members>(), "operation", standard_senders()),
            receiver<members>{&seen, 6});
        CHECK(seen.value == 12);
        using dependent = dependent_signatures<members>;
        using with_range = range_sender<dependent, standard_senders>;
        static_assert(std::is_same_v<members::signatures_of<with_range, numbered_env>,
                                     members::signatures_of<dependent, numbered_env>>);
    }

    TEST_CASE("a receiver with tag_invoke gets each completion, after the range") {
        outcome seen;
        check_one_range<tagged>(traced(tag_signatures(), "operation"), tag_receiver{&seen});
        CHECK(seen.how == "value");
        check_one_range<tagged>(traced(nested_signatures<tagged>(), "operation"),
                                tag_receiver{&seen});
        CHECK(seen.value == 3);

        const auto complete = [&seen](auto tag, auto... values) {
            using receiver = detail::range_receiver<tag_receiver, detail::member_calls>;
            detail::range_completion<tag_receiver> completion(tag_receiver{&seen}, "operation");
            tag(receiver(completion), values...);
        };
        complete(tagged::set_error_t(), 4);
        CHECK(seen.how == "error");
        complete(tagged::set_stopped_t());
        CHECK(seen.how == "stopped");
    }

    TEST_CASE("the environments of the sender and of the receiver are passed through") {
        CHECK(tagged::get_env(traced(tag_signatures(), "operation")) == 5);
        outcome seen;
        detail::range_completion<tag_receiver> by_tag(tag_receiver{&seen}, "operation");
        CHECK(tagged::get_env(detail::range_receiver<tag_receiver, detail::member_calls>(by_tag))
                  .number == 18);
        detail::range_completion<receiver<members>> by_member(receiver<members>{&seen},
                                                              "operation");
        CHECK(members::get_env(
                  detail::range_receiver<receiver<members>, detail::member_calls>(by_member))
                  .number == 17);
    }

    TEST_CASE("an algorithm that a sender replaces by tag_invoke is not called for the sender "
              "inside a range") {
        outcome seen;
        check_one_range<tagged>(traced(runs_itself(), "operation"), receiver<tagged>{&seen});
        CHECK(seen.value == 3);
    }
}
