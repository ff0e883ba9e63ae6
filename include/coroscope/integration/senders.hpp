// SPDX-License-Identifier: Apache-2.0
#pragma once

// coroscope::traced(sender, "label"): a P2300-style sender whose operation is a range, from its start to
// just before its receiver is completed, with set_value, set_error or set_stopped.
//
//   auto rows = sync_wait(coroscope::traced(store.query(key), "db.query"));
//
// It needs no library: senders, receivers and operations are called by their members (connect, start,
// set_value, set_error, set_stopped, get_env), or by functions of these names that argument-dependent
// lookup finds. The receiver is completed under the context of the start. An operation that is destroyed
// after its start without completing ends its range then.

#include <type_traits>
#include <utility>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/attachment.hpp>
#include <coroscope/range.hpp>

namespace coroscope {
namespace detail {
namespace sender_calls {

// Members first, then free functions, which argument-dependent lookup must find.
template <class Sender, class Receiver>
auto connect_to(Sender&& sender, Receiver&& receiver) {
    if constexpr (requires {
                      static_cast<Sender&&>(sender).connect(static_cast<Receiver&&>(receiver));
                  }) {
        return static_cast<Sender&&>(sender).connect(static_cast<Receiver&&>(receiver));
    } else {
        return connect(static_cast<Sender&&>(sender), static_cast<Receiver&&>(receiver));
    }
}
template <class Operation>
void start_operation(Operation& operation) noexcept {
    if constexpr (requires { operation.start(); }) {
        operation.start();
    } else {
        start(operation);
    }
}
template <class Receiver, class... Values>
void value_to(Receiver& receiver, Values&&... values) {
    if constexpr (requires { std::move(receiver).set_value(static_cast<Values&&>(values)...); }) {
        std::move(receiver).set_value(static_cast<Values&&>(values)...);
    } else {
        set_value(std::move(receiver), static_cast<Values&&>(values)...);
    }
}
template <class Receiver, class Error>
void error_to(Receiver& receiver, Error&& error) noexcept {
    if constexpr (requires { std::move(receiver).set_error(static_cast<Error&&>(error)); }) {
        std::move(receiver).set_error(static_cast<Error&&>(error));
    } else {
        set_error(std::move(receiver), static_cast<Error&&>(error));
    }
}
template <class Receiver>
void stopped_to(Receiver& receiver) noexcept {
    if constexpr (requires { std::move(receiver).set_stopped(); }) {
        std::move(receiver).set_stopped();
    } else {
        set_stopped(std::move(receiver));
    }
}

}  // namespace sender_calls

// The nested types that tell what something is, passed on where it has them.
#define COROSCOPE_DETAIL_PASS_ON(name)                                                             \
    template <class Of>                                                                            \
    struct pass_on_##name {};                                                                      \
    template <class Of>                                                                            \
        requires requires { typename Of::name; }                                                   \
    struct pass_on_##name<Of> {                                                                    \
        using name = typename Of::name;                                                            \
    };
COROSCOPE_DETAIL_PASS_ON(sender_concept)
COROSCOPE_DETAIL_PASS_ON(receiver_concept)
COROSCOPE_DETAIL_PASS_ON(operation_state_concept)
COROSCOPE_DETAIL_PASS_ON(completion_signatures)
#undef COROSCOPE_DETAIL_PASS_ON

inline namespace COROSCOPE_ABI {

/// What an operation and its receiver share.
template <class Receiver>
class traced_completion {
public:
    explicit traced_completion(Receiver&& receiver, const char* label)
        : receiver_(static_cast<Receiver&&>(receiver)), label_(label) {}
    traced_completion(const traced_completion&) = delete;
    traced_completion& operator=(const traced_completion&) = delete;

    void begin() noexcept {
        context_ = current_context();
        range_ = range(label_);
    }

    /// Ends the range and completes the receiver by `complete(receiver)`, under the context of the start.
    /// The operation may be gone after that.
    template <class Complete>
    void finish(Complete&& complete) {
        const context_guard guard(context_);
        range_.end();
        complete(receiver_);
    }

    const Receiver& receiver() const noexcept { return receiver_; }

private:
    Receiver receiver_;
    const char* label_;
    context context_;
    range range_;
};

/// Stands for the receiver in the inner operation.
template <class Receiver>
class traced_receiver : public pass_on_receiver_concept<Receiver> {
public:
    explicit traced_receiver(traced_completion<Receiver>& completion) noexcept
        : completion_(&completion) {}

    template <class... Values>
    void set_value(Values&&... values) && {
        completion_->finish([&](Receiver& receiver) {
            sender_calls::value_to(receiver, static_cast<Values&&>(values)...);
        });
    }
    template <class Error>
    void set_error(Error&& error) && noexcept {
        completion_->finish([&](Receiver& receiver) {
            sender_calls::error_to(receiver, static_cast<Error&&>(error));
        });
    }
    void set_stopped() && noexcept {
        completion_->finish([](Receiver& receiver) { sender_calls::stopped_to(receiver); });
    }
    auto get_env() const noexcept
        requires requires(const Receiver& receiver) { receiver.get_env(); }
    {
        return completion_->receiver().get_env();
    }

private:
    traced_completion<Receiver>* completion_;
};

template <class Sender, class Receiver>
using inner_operation = decltype(sender_calls::connect_to(
    std::declval<Sender>(), std::declval<traced_receiver<Receiver>>()));

template <class Sender, class Receiver>
class traced_operation : public pass_on_operation_state_concept<inner_operation<Sender, Receiver>> {
public:
    traced_operation(Sender&& sender, Receiver&& receiver, const char* label)
        : completion_(static_cast<Receiver&&>(receiver), label),
          inner_(sender_calls::connect_to(static_cast<Sender&&>(sender),
                                          traced_receiver<Receiver>(completion_))) {}
    traced_operation(const traced_operation&) = delete;
    traced_operation& operator=(const traced_operation&) = delete;

    void start() noexcept {
        completion_.begin();
        sender_calls::start_operation(inner_);
    }

private:
    traced_completion<Receiver> completion_;
    inner_operation<Sender, Receiver> inner_;
};

}  // namespace COROSCOPE_ABI
}  // namespace detail

/// Is this type a sender? Known by the types nested in it; may be specialised for others.
template <class Type>
inline constexpr bool is_sender = requires { typename Type::sender_concept; } ||
                                  requires { typename Type::completion_signatures; };

inline namespace COROSCOPE_ABI {

/// A sender, and the label of the range of each operation that is made of it. As copyable as the sender.
template <class Sender>
class range_sender : public detail::pass_on_sender_concept<Sender>,
                     public detail::pass_on_completion_signatures<Sender> {
public:
    template <class Given>
    range_sender(Given&& sender, const char* label)
        : sender_(static_cast<Given&&>(sender)), label_(label) {}

    template <class Receiver>
    auto connect(Receiver&& receiver) && {
        using operation = detail::traced_operation<Sender, std::decay_t<Receiver>>;
        return operation(std::move(sender_),
                         std::decay_t<Receiver>(static_cast<Receiver&&>(receiver)), label_);
    }
    template <class Receiver>
    auto connect(Receiver&& receiver) const& {
        using operation = detail::traced_operation<Sender, std::decay_t<Receiver>>;
        return operation(Sender(sender_), std::decay_t<Receiver>(static_cast<Receiver&&>(receiver)),
                         label_);
    }
    auto get_env() const noexcept
        requires requires(const Sender& sender) { sender.get_env(); }
    {
        return sender_.get_env();
    }

private:
    Sender sender_;
    const char* label_;
};

/// `label` must outlive the sender and its operations' starts.
template <class Sender>
    requires is_sender<std::remove_cvref_t<Sender>>
auto traced(Sender&& sender, const char* label) {
    return range_sender<std::decay_t<Sender>>(static_cast<Sender&&>(sender), label);
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
