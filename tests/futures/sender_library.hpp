// SPDX-License-Identifier: Apache-2.0
#pragma once

// A small library of senders in two forms. library<false> calls customisations as members, like
// C++26; library<true> also by tag_invoke, like earlier libraries. As in the standard, its
// connect() may connect another sender instead.

#include <optional>
#include <type_traits>
#include <utility>

namespace coroscope::test {

// NOLINTBEGIN(bugprone-move-forwarding-reference): as in the standard, a receiver is given away

template <class... Signatures>
struct completion_signatures {};
struct sender_tag {};
struct receiver_tag {};
struct operation_tag {};

namespace by_tag {
void tag_invoke() = delete;
template <class Tag, class... Arguments>
concept customised = requires(Tag tag, Arguments&&... arguments) {
    tag_invoke(tag, std::forward<Arguments>(arguments)...);
};
template <class Tag, class... Arguments>
decltype(auto) call(Tag tag, Arguments&&... arguments) {
    return tag_invoke(tag, std::forward<Arguments>(arguments)...);
}
}  // namespace by_tag

template <bool Tags>
struct library {
    template <class Tag, class... Arguments>
    static constexpr bool customised = Tags && by_tag::customised<Tag, Arguments...>;

    struct set_value_t {
        template <class Receiver, class... Values>
            requires requires(Receiver receiver, Values... values) {
                std::move(receiver).set_value(std::forward<Values>(values)...);
            } || customised<set_value_t, Receiver, Values...>
        void operator()(Receiver&& receiver, Values&&... values) const noexcept {
            if constexpr (requires {
                              std::move(receiver).set_value(std::forward<Values>(values)...);
                          }) {
                std::move(receiver).set_value(std::forward<Values>(values)...);
            } else {
                by_tag::call(*this, std::move(receiver), std::forward<Values>(values)...);
            }
        }
    };
    struct set_error_t {
        template <class Receiver, class Error>
            requires requires(Receiver receiver, Error error) {
                std::move(receiver).set_error(std::move(error));
            } || customised<set_error_t, Receiver, Error>
        void operator()(Receiver&& receiver, Error&& error) const noexcept {
            if constexpr (requires { std::move(receiver).set_error(std::forward<Error>(error)); }) {
                std::move(receiver).set_error(std::forward<Error>(error));
            } else {
                by_tag::call(*this, std::move(receiver), std::forward<Error>(error));
            }
        }
    };
    struct set_stopped_t {
        template <class Receiver>
            requires requires(Receiver receiver) { std::move(receiver).set_stopped(); } ||
                     customised<set_stopped_t, Receiver>
        void operator()(Receiver&& receiver) const noexcept {
            if constexpr (requires { std::move(receiver).set_stopped(); }) {
                std::move(receiver).set_stopped();
            } else {
                by_tag::call(*this, std::move(receiver));
            }
        }
    };
    struct start_t {
        template <class Operation>
            requires requires(Operation& operation) { operation.start(); } ||
                     customised<start_t, Operation&>
        void operator()(Operation& operation) const noexcept {
            if constexpr (requires { operation.start(); }) {
                operation.start();
            } else {
                by_tag::call(*this, operation);
            }
        }
    };
    struct empty_env {};
    struct get_env_t {
        template <class Provider>
        auto operator()(const Provider& provider) const noexcept {
            if constexpr (requires { provider.get_env(); }) {
                return provider.get_env();
            } else if constexpr (customised<get_env_t, const Provider&>) {
                return by_tag::call(*this, provider);
            } else {
                return empty_env();
            }
        }
    };
    template <class Sender, class Environment>
    static auto transformed(Sender&& sender, const Environment& environment) {
        if constexpr (requires { std::forward<Sender>(sender).replaced(environment); }) {
            return std::forward<Sender>(sender).replaced(environment);
        } else {
            return std::decay_t<Sender>(std::forward<Sender>(sender));
        }
    }
    struct get_completion_signatures_t {
        template <class Sender, class Environment>
        auto operator()(Sender&& sender, const Environment& environment) const noexcept {
            using type = decltype(transformed(std::forward<Sender>(sender), environment));
            if constexpr (requires { typename type::completion_signatures; }) {
                return typename type::completion_signatures();
            } else if constexpr (requires {
                                     type::template get_completion_signatures<type, Environment>();
                                 }) {
                return type::template get_completion_signatures<type, Environment>();
            } else if constexpr (requires { type::template get_completion_signatures<type>(); }) {
                return type::template get_completion_signatures<type>();
            } else if constexpr (requires(type made) {
                                     made.get_completion_signatures(environment);
                                 }) {
                return decltype(std::declval<type>().get_completion_signatures(environment))();
            } else if constexpr (customised<get_completion_signatures_t, type, Environment>) {
                return decltype(by_tag::call(*this, std::declval<type>(), environment))();
            }
        }
    };
    struct connect_t {
        template <class Sender, class Receiver>
        auto operator()(Sender&& sender, Receiver receiver) const {
            const auto environment = get_env_t()(receiver);
            if constexpr (requires { std::forward<Sender>(sender).replaced(environment); }) {
                return (*this)(std::forward<Sender>(sender).replaced(environment),
                               std::move(receiver));
            } else if constexpr (requires {
                                     std::forward<Sender>(sender).connect(std::move(receiver));
                                 }) {
                return std::forward<Sender>(sender).connect(std::move(receiver));
            } else {
                return by_tag::call(*this, std::forward<Sender>(sender), std::move(receiver));
            }
        }
    };
    /// An algorithm that a sender may replace. Without a replacement it makes an operation and
    /// starts it.
    struct run_t {
        template <class Sender, class Receiver>
        void operator()(Sender&& sender, Receiver receiver) const {
            if constexpr (customised<run_t, Sender, Receiver>) {
                by_tag::call(*this, std::forward<Sender>(sender), std::move(receiver));
            } else {
                auto operation = connect_t()(std::forward<Sender>(sender), std::move(receiver));
                start_t()(operation);
            }
        }
    };

    template <class Sender, class Environment = empty_env>
    using signatures_of = decltype(get_completion_signatures_t()(std::declval<Sender>(),
                                                                 std::declval<Environment>()));
    static constexpr get_env_t get_env = {};
    static constexpr run_t run = {};
};

// NOLINTEND(bugprone-move-forwarding-reference)

}  // namespace coroscope::test
