// SPDX-License-Identifier: Apache-2.0
#pragma once

// coroscope::traced(sender, "label"): a sender whose operation is a range. The range begins at the
// start of the operation and ends just before its receiver is completed with set_value, set_error
// or set_stopped.
//
//   auto rows = sync_wait(coroscope::traced(store.query(key), "db.query"));
//
// This header does not include the header of any sender library. It calls senders, receivers and
// operations in the first of these ways that applies:
// - by the functions that a third argument selects: `traced(sender, "label", standard_senders())`
//   after `COROSCOPE_SENDER_LIBRARY(standard_senders, std::execution)`. C++26's own senders need
//   this;
// - by the function objects of their library, if that library calls customisations by tag_invoke
//   (stdexec, libunifex);
// - by their members (connect, start, set_value, set_error, set_stopped, get_env);
// - by free functions of these names that argument-dependent lookup finds.
//
// Signatures, environments and attributes are those of the sender and of the receiver, so the
// result composes like the sender. If `sender` is only awaitable, so is the result: the range
// begins when the result is awaited and ends just before the coroutine goes on. The receiver is
// completed in the context that was current when the operation was started. If an operation is
// destroyed after its start without having completed its receiver, its range ends at the
// destruction.

#include <type_traits>
#include <utility>

#include <coroscope/config.hpp>
#include <coroscope/detail/range_awaiter.hpp>
#include <coroscope/detail/range_connector.hpp>
#include <coroscope/detail/range_operation.hpp>
#include <coroscope/detail/sender_calls.hpp>
#include <coroscope/detail/sender_library.hpp>

namespace coroscope {
inline namespace COROSCOPE_ABI {

/// Wraps a sender and holds the label for the ranges of its operations. It can be copied if the
/// wrapped sender can, and queries on it have the results of the wrapped sender.
template <class Sender, class Library = detail::library_as_found>
class range_sender : public detail::pass_on_sender_concept<Sender>,
                     public detail::pass_on_is_sender<Sender>,
                     public detail::pass_on_completion_signatures<Sender>,
                     public detail::pass_on_value_types<Sender>,
                     public detail::pass_on_next_types<Sender>,
                     public detail::pass_on_blocking<Sender>,
                     public detail::pass_on_is_always_scheduler_affine<Sender> {
    /// The inner sender, with the constness and value category of `Self`.
    template <class Self>
    using inner = detail::with_category_of<Self, Sender>;
    template <class Self, class Receiver>
    using calls_for =
        typename detail::calls_for<Library>::template type<inner<Self>, std::decay_t<Receiver>>;
    template <class Calls, class Self, class Receiver>
    using operation = detail::range_operation<Calls, inner<Self>, std::decay_t<Receiver>>;

public:
    template <class Given>
    range_sender(Given&& sender,
                 const char* label) noexcept(std::is_nothrow_constructible_v<Sender, Given>)
        : sender_(static_cast<Given&&>(sender)), label_(label) {}

    template <class Receiver, class Calls = calls_for<range_sender, Receiver>>
        requires(!std::is_void_v<Calls>)
    auto connect(Receiver&& receiver) && noexcept(
        operation<Calls, range_sender, Receiver>::connects_without_throwing) {
        return operate<Calls>(std::move(*this), static_cast<Receiver&&>(receiver));
    }
    template <class Receiver, class Calls = calls_for<range_sender&, Receiver>>
        requires(!std::is_void_v<Calls>)
    auto connect(Receiver&& receiver) & noexcept(
        operation<Calls, range_sender&, Receiver>::connects_without_throwing) {
        return operate<Calls>(*this, static_cast<Receiver&&>(receiver));
    }
    template <class Receiver, class Calls = calls_for<const range_sender&, Receiver>>
        requires(!std::is_void_v<Calls>)
    auto connect(Receiver&& receiver) const& noexcept(
        operation<Calls, const range_sender&, Receiver>::connects_without_throwing) {
        return operate<Calls>(*this, static_cast<Receiver&&>(receiver));
    }
    template <class Tag, class Self, class Receiver>
        requires std::is_same_v<std::remove_cvref_t<Self>, range_sender> &&
                 detail::library_connect<Tag, inner<Self>, std::decay_t<Receiver>>
    friend auto tag_invoke(Tag, Self&& self, Receiver&& receiver) noexcept(
        operation<detail::connect_calls<Tag>, Self, Receiver>::connects_without_throwing) {
        return operate<detail::connect_calls<Tag>>(static_cast<Self&&>(self),
                                                   static_cast<Receiver&&>(receiver));
    }

    template <class Self, class... Environment>
        requires detail::names_library<Library>
    static consteval auto get_completion_signatures() {
        return Library::template get_completion_signatures<inner<Self>, Environment...>();
    }
    template <class Self, class... Environment>
        requires(!detail::names_library<Library> &&
                 !detail::is_of_tag_invoke_library<Sender, Environment...>()) &&
                detail::static_signatures_of<inner<Self>, Environment...>
    static consteval auto get_completion_signatures() {
        return Sender::template get_completion_signatures<inner<Self>, Environment...>();
    }
    template <class... Environment>
        requires detail::member_signatures_of<Sender, Environment...>
    auto get_completion_signatures(Environment&&... environment) && {
        return std::move(sender_).get_completion_signatures(
            static_cast<Environment&&>(environment)...);
    }
    template <class... Environment>
        requires detail::member_signatures_of<const Sender&, Environment...>
    auto get_completion_signatures(Environment&&... environment) const& {
        return sender_.get_completion_signatures(static_cast<Environment&&>(environment)...);
    }

    template <class Given = Library>
        requires detail::names_library<Given>
    decltype(auto) get_env() const noexcept {
        return Given::get_env(sender_);
    }
    template <class Given = Sender>
        requires(!detail::names_library<Library> &&
                 std::is_invocable_v<detail::sender_calls::member_get_env, const Given&>)
    decltype(auto) get_env() const noexcept {
        return detail::sender_calls::member_get_env()(static_cast<const Given&>(sender_));
    }
    /// Answers the queries of libraries that call tag_invoke (the signatures, the environment,
    /// whether the start blocks) with the answers of the wrapped sender.
    template <class Tag, class Self, class... Environment>
        requires std::is_same_v<std::remove_cvref_t<Self>, range_sender> &&
                 detail::library_query<Tag, inner<Self>, Environment...>
    friend decltype(auto) tag_invoke(Tag tag, Self&& self, Environment&&... environment) noexcept {
        return tag(static_cast<inner<Self>&&>(self.sender_),
                   static_cast<Environment&&>(environment)...);
    }

    // For an operand that is only awaitable, the range lasts as long as the await.
    template <class Given = Sender>
        requires detail::only_awaitable<Given, Given>
    auto operator co_await() && {
        return detail::range_awaiter<Given>(std::move(sender_), label_);
    }
    template <class Given = Sender>
        requires detail::only_awaitable<Given, Given&>
    auto operator co_await() & {
        return detail::range_awaiter<Given&>(sender_, label_);
    }

private:
    template <class Calls, class Self, class Receiver>
    static auto operate(Self&& self, Receiver&& receiver) noexcept(
        operation<Calls, Self, Receiver>::connects_without_throwing) {
        return operation<Calls, Self, Receiver>(
            static_cast<inner<Self>&&>(self.sender_),
            std::decay_t<Receiver>(static_cast<Receiver&&>(receiver)), self.label_);
    }

    Sender sender_;
    const char* label_;
};

/// `label` must outlive the sender and the starts of its operations.
template <class Sender>
    requires is_sender<std::remove_cvref_t<Sender>>
auto traced(Sender&& sender, const char* label) {
    return range_sender<std::decay_t<Sender>>(static_cast<Sender&&>(sender), label);
}

/// `Library` must have no state. It must be a type that COROSCOPE_SENDER_LIBRARY defined, or a
/// library's function object `connect`.
template <class Sender, class Library>
    requires std::is_empty_v<Library> && std::is_default_constructible_v<Library>
auto traced(Sender&& sender, const char* label, Library) {
    return range_sender<std::decay_t<Sender>, Library>(static_cast<Sender&&>(sender), label);
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope

/// Defines the type `name`, through which traced() calls the functions of the namespace `library`.
/// `library` must be the namespace of C++26's senders, or of a library with the same names:
/// COROSCOPE_SENDER_LIBRARY(standard_senders, std::execution); traced(sender, "label",
/// standard_senders()).
#define COROSCOPE_SENDER_LIBRARY(name, library)                                                    \
    struct name {                                                                                  \
        static constexpr auto connect = library::connect;                                          \
        static constexpr auto start = library::start;                                              \
        static constexpr auto set_value = library::set_value;                                      \
        static constexpr auto set_error = library::set_error;                                      \
        static constexpr auto set_stopped = library::set_stopped;                                  \
        static constexpr auto get_env = library::get_env;                                          \
        template <class Sender, class... Environment>                                              \
        static consteval auto get_completion_signatures() {                                        \
            return library::get_completion_signatures<Sender, Environment...>();                   \
        }                                                                                          \
    }
