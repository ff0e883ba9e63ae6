// SPDX-License-Identifier: Apache-2.0

// Senders of a minimal library in this test.

#include <coroscope/integration/senders.hpp>

#include <functional>
#include <optional>

#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

struct noted_outcome {
    std::string how;
    int value = 0;
    std::uint64_t task = 0;
    bool ended = false;
};

/// Keeps the kind of its completion, and the task of the context at that time.
class noting_receiver {
public:
    using receiver_concept = struct a_receiver;
    explicit noting_receiver(noted_outcome& into) noexcept : into_(&into) {}
    void set_value(std::unique_ptr<int> value) && { note("value", *value); }
    void set_value(int& value) && { note("reference", value); }
    void set_value() && { note("nothing", 0); }
    void set_error(std::exception_ptr error) && noexcept {
        try {
            std::rethrow_exception(error);
        } catch (const std::exception& thrown) {
            note(thrown.what(), 0);
        }
    }
    void set_stopped() && noexcept { note("stopped", 0); }
    int get_env() const noexcept { return 17; }

private:
    void note(const char* how, int value) const {
        *into_ = {how, value, current_context().task, true};
    }
    noted_outcome* into_;
};

/// Completes its receiver by a function, when the test fires it.
template <class Complete>
class fired_sender {
public:
    using sender_concept = struct a_sender;
    fired_sender(std::function<void()>& fire, Complete complete)
        : fire_(&fire), complete_(std::move(complete)) {}

    template <class Receiver>
    class operation {
    public:
        operation(std::function<void()>& fire, Complete complete, Receiver receiver)
            : fire_(&fire), complete_(std::move(complete)), receiver_(std::move(receiver)) {}
        operation(const operation&) = delete;
        operation& operator=(const operation&) = delete;
        void start() noexcept {
            *fire_ = [this] { complete_(std::move(receiver_)); };
        }

    private:
        std::function<void()>* fire_;
        Complete complete_;
        Receiver receiver_;
    };
    template <class Receiver>
    auto connect(Receiver receiver) const {
        return operation<Receiver>(*fire_, complete_, std::move(receiver));
    }
    int get_env() const noexcept { return 5; }

private:
    std::function<void()>* fire_;
    Complete complete_;
};

/// A library with free functions.
struct free_sender {
    template <class Receiver>
    struct operation {
        Receiver receiver;
        friend void start(operation& self) noexcept { std::move(self.receiver).set_value(); }
    };
    template <class Receiver>
    friend auto connect(free_sender, Receiver receiver) {
        return operation<Receiver>{std::move(receiver)};
    }
};

}  // namespace

template <>
inline constexpr bool coroscope::is_sender<free_sender> = true;

TEST_SUITE("senders") {
    TEST_CASE("each completion ends the range before the receiver is called, under the context of "
              "the start") {
        int target = 3;
        const auto complete_with = [](auto complete) {
            recording session;
            std::function<void()> fire;
            noted_outcome seen;
            auto sender = traced(fired_sender(fire, complete), "operation");
            auto operation = std::move(sender).connect(noting_receiver(seen));
            {
                context mine;
                mine.task = 99;
                const context_guard guard(mine);
                operation.start();
            }
            CHECK(seen.how.empty());
            std::thread([&fire] { fire(); }).join();
            CHECK(seen.task == 99);
            const recorded found = session.stop();
            CHECK((found.event("operation").flags & analysis::event_open) == 0);
            return seen;
        };
        CHECK(complete_with([](auto receiver) { std::move(receiver).set_value(); }).how ==
              "nothing");
        const noted_outcome moved = complete_with(
            [](auto receiver) { std::move(receiver).set_value(std::make_unique<int>(8)); });
        CHECK(moved.how == "value");
        CHECK(moved.value == 8);
        CHECK(complete_with([&target](auto receiver) {
                  std::move(receiver).set_value(target);
              }).how == "reference");
        CHECK(complete_with([](auto receiver) {
                  std::move(receiver).set_error(an_error("failed"));
              }).how == "failed");
        CHECK(complete_with([](auto receiver) { std::move(receiver).set_stopped(); }).how ==
              "stopped");
    }

    TEST_CASE("the range begins at the start, not at connect()") {
        recording session;
        std::function<void()> fire;
        noted_outcome seen;
        const auto sender = traced(
            fired_sender(fire, [](auto receiver) { std::move(receiver).set_stopped(); }), "lazy");
        {
            const auto never_started = sender.connect(noting_receiver(seen));
        }
        auto operation = sender.connect(noting_receiver(seen));
        {
            const record_function before("before the start");
        }
        operation.start();
        fire();
        const recorded found = session.stop();
        CHECK(found.event("lazy").start_ns >= found.event("before the start").end_ns);
    }

    TEST_CASE("an operation that is destroyed after its start ends its range") {
        recording session;
        std::function<void()> fire;
        noted_outcome seen;
        {
            auto operation =
                traced(fired_sender(fire, [](auto receiver) { std::move(receiver).set_value(); }),
                       "destroyed")
                    .connect(noting_receiver(seen));
            operation.start();
        }
        CHECK((session.stop().event("destroyed").flags & analysis::event_open) == 0);
    }

    TEST_CASE("free functions work like members, and environments and nested types pass through") {
        recording session;
        noted_outcome seen;
        auto operation = traced(free_sender(), "free").connect(noting_receiver(seen));
        operation.start();
        CHECK(seen.how == "nothing");
        CHECK(session.stop().count("free") == 1);

        std::function<void()> fire;
        const auto complete = [](auto receiver) {
            CHECK(receiver.get_env() == 17);
            std::move(receiver).set_stopped();
        };
        const auto sender = traced(fired_sender(fire, complete), "env");
        CHECK(sender.get_env() == 5);
        static_assert(is_sender<std::remove_const_t<decltype(sender)>>);
        auto inner = sender.connect(noting_receiver(seen));
        inner.start();
        fire();
        CHECK(seen.how == "stopped");
    }
}
