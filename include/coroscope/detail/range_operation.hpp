// SPDX-License-Identifier: Apache-2.0
#pragma once

// The operation of a sender whose operations are ranges, and the receiver that replaces the given
// one in it.

#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/sender_calls.hpp>
#include <coroscope/range.hpp>

namespace coroscope::detail {
inline namespace COROSCOPE_ABI {

/// The state that an operation and its receiver share.
template <class Receiver>
class range_completion {
public:
    explicit range_completion(Receiver&& receiver, const char* label) noexcept(
        std::is_nothrow_move_constructible_v<Receiver>)
        : receiver_(static_cast<Receiver&&>(receiver)), label_(label) {}
    range_completion(const range_completion&) = delete;
    range_completion& operator=(const range_completion&) = delete;

    void begin() noexcept {
        context_ = coroscope::current_context();
        range_ = range(label_);
    }

    /// Ends the range and completes the receiver with `complete(receiver, values…)`, in the context
    /// of the start. The operation may be destroyed by that. If the receiver throws, the operation
    /// may complete it once more.
    template <class Complete, class... Values>
    void finish(Complete complete, Values&&... values) noexcept(
        std::is_nothrow_invocable_v<Complete, Receiver, Values...>) {
        const context_guard guard(context_);
        range_.end();
        complete(static_cast<Receiver&&>(receiver_), static_cast<Values&&>(values)...);
    }

    Receiver& receiver() noexcept { return receiver_; }

private:
    Receiver receiver_;
    const char* label_;
    context context_;
    range range_;
};

/// Replaces the receiver in the inner operation. It has the members that the receiver has. Queries
/// of the library through tag_invoke are passed to the receiver.
template <class Receiver, class Calls>
class range_receiver : public pass_on_receiver_concept<Receiver>,
                       public pass_on_is_receiver<Receiver> {
    using set_value_call = typename Calls::set_value;
    using set_error_call = typename Calls::set_error;
    using set_stopped_call = typename Calls::set_stopped;
    using get_env_call = typename Calls::get_env;

public:
    explicit range_receiver(range_completion<Receiver>& completion) noexcept
        : completion_(__builtin_addressof(completion)) {}

    template <class... Values>
        requires std::is_invocable_v<set_value_call, Receiver, Values...>
    void set_value(Values&&... values) && noexcept(
        std::is_nothrow_invocable_v<set_value_call, Receiver, Values...>) {
        completion_->finish(set_value_call(), static_cast<Values&&>(values)...);
    }
    template <class Error>
        requires std::is_invocable_v<set_error_call, Receiver, Error>
    void set_error(Error&& error) && noexcept {
        completion_->finish(set_error_call(), static_cast<Error&&>(error));
    }
    template <class Given = Receiver>
        requires std::is_invocable_v<set_stopped_call, Given>
    void set_stopped() && noexcept {
        completion_->finish(set_stopped_call());
    }
    /// libunifex's name for set_stopped.
    template <class Given = Receiver>
        requires std::is_invocable_v<sender_calls::member_set_done, Given>
    void set_done() && noexcept {
        completion_->finish(sender_calls::member_set_done());
    }
    /// libunifex's values that arrive in steps before the completion.
    template <class... Values>
        requires std::is_invocable_v<sender_calls::member_set_next, Receiver&, Values...>
    void set_next(Values&&... values) & noexcept(
        std::is_nothrow_invocable_v<sender_calls::member_set_next, Receiver&, Values...>) {
        completion_->receiver().set_next(static_cast<Values&&>(values)...);
    }
    template <class Given = Receiver>
        requires std::is_invocable_v<get_env_call, const Given&>
    decltype(auto) get_env() const noexcept {
        return get_env_call()(static_cast<const Given&>(completion_->receiver()));
    }

    // The type of `self` must be tested first: a tag that connects a sender to this receiver must
    // not be tested with a receiver.
    /// A completion: the tag is the library's function object for it.
    template <class Tag, class Self, class... Values>
        requires std::is_same_v<Self, range_receiver> &&
                 std::is_void_v<std::invoke_result_t<Tag, Receiver, Values...>>
    friend void
    tag_invoke(Tag tag, Self&& self,
               Values&&... values) noexcept(std::is_nothrow_invocable_v<Tag, Receiver, Values...>) {
        self.completion_->finish(tag, static_cast<Values&&>(values)...);
    }
    /// A query, such as for the environment, the stop token or the scheduler.
    template <class Tag, class Self, class... Arguments>
        requires std::is_same_v<Self, range_receiver> &&
                 std::is_invocable_v<Tag, const Receiver&, Arguments...>
    friend decltype(auto) tag_invoke(Tag tag, const Self& self, Arguments&&... arguments) noexcept(
        std::is_nothrow_invocable_v<Tag, const Receiver&, Arguments...>) {
        const Receiver& receiver = self.completion_->receiver();
        return tag(receiver, static_cast<Arguments&&>(arguments)...);
    }

private:
    range_completion<Receiver>* completion_;
};

/// Connects the sender at its construction, and begins the range at its start.
template <class Calls, class Sender, class Receiver>
class range_operation
    : public pass_on_operation_state_concept<
          std::invoke_result_t<typename Calls::connect, Sender, range_receiver<Receiver, Calls>>> {
    using connect_call = typename Calls::connect;
    using start_call = typename Calls::start;
    using inner_receiver = range_receiver<Receiver, Calls>;
    using inner_operation = std::invoke_result_t<connect_call, Sender, inner_receiver>;

public:
    static constexpr bool connects_without_throwing =
        std::is_nothrow_invocable_v<connect_call, Sender, inner_receiver> &&
        std::is_nothrow_move_constructible_v<Receiver>;

    range_operation(Sender&& sender, Receiver&& receiver,
                    const char* label) noexcept(connects_without_throwing)
        : completion_(static_cast<Receiver&&>(receiver), label),
          inner_(connect_call()(static_cast<Sender&&>(sender), inner_receiver(completion_))) {}
    range_operation(const range_operation&) = delete;
    range_operation& operator=(const range_operation&) = delete;

    template <class Inner = inner_operation>
        requires std::is_invocable_v<start_call, Inner&>
    void start() noexcept {
        completion_.begin();
        start_call()(inner_);
    }
    /// The start of a library that calls tag_invoke: the tag is its function object.
    template <class Tag, class Self>
        requires std::is_same_v<Self, range_operation> && std::is_invocable_v<Tag, inner_operation&>
    friend void tag_invoke(Tag tag, Self& self) noexcept {
        self.completion_.begin();
        tag(self.inner_);
    }

private:
    range_completion<Receiver> completion_;
    inner_operation inner_;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope::detail
