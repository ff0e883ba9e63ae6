// SPDX-License-Identifier: Apache-2.0
#pragma once

// coroscope::traced(token, "label"): a completion token of Asio whose operation is a range. The
// range begins at the initiation and ends just before the handler runs.
//
//   socket.async_read_some(buffer, coroscope::traced(handler, "read"));
//   auto bytes = co_await socket.async_read_some(buffer,
//                                                coroscope::traced(asio::use_awaitable, "read"));
//
// Any token is accepted: callbacks, use_future, use_awaitable, and deferred (a lazy operation
// begins its range when it is launched). Adapters such as redirect_error or bind_cancellation_slot
// may be inside it or around it. Executors, allocators and cancellation slots are those of the
// token. If an operation is destroyed without running its handler, its range ends then. The handler
// runs in the context of the initiation, unless Asio's own tracking installs one.
//
// Uses Boost.Asio. For standalone Asio the whole program must define COROSCOPE_STANDALONE_ASIO.

#include <type_traits>
#include <utility>

#if defined(COROSCOPE_STANDALONE_ASIO)
#include <asio/associator.hpp>
#include <asio/async_result.hpp>
#define COROSCOPE_DETAIL_ASIO asio
#else
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#define COROSCOPE_DETAIL_ASIO boost::asio
#endif

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/attachment.hpp>
#include <coroscope/range.hpp>

namespace coroscope {
namespace detail {

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) || defined(ASIO_CUSTOM_HANDLER_TRACKING)
inline constexpr bool asio_installs_context = true;
#else
inline constexpr bool asio_installs_context = false;
#endif

/// Ends the operation's range, then runs its handler.
template <class Handler>
class traced_handler {
public:
    template <class Given>
    traced_handler(range_end end, Given&& handler)
        : end_(std::move(end)), handler_(static_cast<Given&&>(handler)) {}

    template <class... Results>
    void operator()(Results&&... results) {
        end_();
        if constexpr (asio_installs_context) {
            std::move(handler_)(static_cast<Results&&>(results)...);
        } else {
            const context_guard guard(context_);
            std::move(handler_)(static_cast<Results&&>(results)...);
        }
    }

    const Handler& handler() const noexcept { return handler_; }

private:
    range_end end_;
    context context_ = coroscope::current_context();
    Handler handler_;
};

/// The type with which a traced token passes its inner token on. The inner token may be moved from
/// only if the traced token is an rvalue.
template <class Traced, class Token>
using handed_token =
    std::conditional_t<std::is_reference_v<Traced> || std::is_const_v<Traced>, const Token&, Token>;

/// The member of the inner token's result that outer adapters read, if the result has it.
template <class Result>
struct traced_result {};
template <class Result>
    requires requires { typename Result::return_type; }
struct traced_result<Result> {
    using return_type = typename Result::return_type;
};

inline namespace COROSCOPE_ABI {

/// Begins the range when the operation is initiated, which may be later than its creation.
template <class Initiation>
class traced_initiation {
public:
    template <class Given>
    traced_initiation(Given&& initiation, const char* label)
        : initiation_(static_cast<Given&&>(initiation)), label_(label) {}

    template <class Handler, class... Arguments>
    auto operator()(Handler&& handler, Arguments&&... arguments) {
        const range operation(label_);
        range_state* state = operation.coroscope_state().get();
        range_end end(state != nullptr && detail::attach(*state) ? state : nullptr);
        return std::move(initiation_)(
            traced_handler<std::decay_t<Handler>>(std::move(end), static_cast<Handler&&>(handler)),
            static_cast<Arguments&&>(arguments)...);
    }

    auto get_executor() const noexcept
        requires requires(const Initiation& initiation) { initiation.get_executor(); }
    {
        return initiation_.get_executor();
    }

private:
    Initiation initiation_;
    const char* label_;
};

}  // namespace COROSCOPE_ABI
}  // namespace detail

inline namespace COROSCOPE_ABI {

/// A completion token with the label of its operations.
template <class Token>
class traced_token {
public:
    template <class Given>
    traced_token(Given&& token, const char* label)
        : token_(static_cast<Given&&>(token)), label_(label) {}

    const char* label() const noexcept { return label_; }
    Token& token() noexcept { return token_; }
    const Token& token() const noexcept { return token_; }

private:
    Token token_;
    const char* label_;
};

/// Returns the traced token. `label` must live until the operation is initiated. The result may be
/// reused: an lvalue is copied, as Asio does.
template <class Token>
auto traced(Token&& token, const char* label = "asynchronous operation") {
    return traced_token<std::decay_t<Token>>(static_cast<Token&&>(token), label);
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope

template <class Token, class... Signatures>
class COROSCOPE_DETAIL_ASIO::async_result<coroscope::traced_token<Token>, Signatures...>
    : public coroscope::detail::traced_result<
          COROSCOPE_DETAIL_ASIO::async_result<Token, Signatures...>> {
public:
    template <class Initiation, class Traced, class... Arguments>
    static auto initiate(Initiation&& initiation, Traced&& traced, Arguments&&... arguments)
        -> decltype(COROSCOPE_DETAIL_ASIO::async_initiate<
                    coroscope::detail::handed_token<Traced, Token>, Signatures...>(
            std::declval<coroscope::detail::traced_initiation<std::decay_t<Initiation>>>(),
            std::declval<coroscope::detail::handed_token<Traced, Token>&>(),
            static_cast<Arguments&&>(arguments)...)) {
        return COROSCOPE_DETAIL_ASIO::async_initiate<coroscope::detail::handed_token<Traced, Token>,
                                                     Signatures...>(
            coroscope::detail::traced_initiation<std::decay_t<Initiation>>(
                static_cast<Initiation&&>(initiation), traced.label()),
            traced.token(), static_cast<Arguments&&>(arguments)...);
    }
};

template <template <class, class> class Associator, class Handler, class Candidate>
struct COROSCOPE_DETAIL_ASIO::associator<Associator, coroscope::detail::traced_handler<Handler>,
                                         Candidate> : Associator<Handler, Candidate> {
    static auto get(const coroscope::detail::traced_handler<Handler>& traced) noexcept {
        return Associator<Handler, Candidate>::get(traced.handler());
    }
    static auto get(const coroscope::detail::traced_handler<Handler>& traced,
                    const Candidate& candidate) noexcept {
        return Associator<Handler, Candidate>::get(traced.handler(), candidate);
    }
};

#undef COROSCOPE_DETAIL_ASIO
