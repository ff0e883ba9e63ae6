// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of a scope that is observed: what scope_info shows, and what an instrumented block hands over.

#include <cstddef>
#include <cstdint>

namespace coroscope {

struct site;

/// Kinds of scopes, for observers. torch's other kinds (kernel dtypes, TorchScript, custom classes, …)
/// have nothing that they could mean here.
enum class scope_kind : std::uint8_t {
    function,           ///< a label of the source: COROSCOPE, _FUNCTION, _CAT, _ARGS
    backward_function,  ///< record_function where deferred work runs (sequence.hpp)
    user_scope,         ///< record_function elsewhere
    range,              ///< range: ends when something completes
    await,              ///< COROSCOPE_AWAIT of an operand that an integration passes through
};

namespace detail {

inline constexpr unsigned scope_kinds = 5;
constexpr unsigned bit_of(scope_kind kind) noexcept { return 1U << static_cast<unsigned>(kind); }
inline constexpr std::uint8_t all_scope_kinds = (1U << scope_kinds) - 1;

struct scope_facts {
    const char* name = "";
    std::size_t name_size = 0;
    const site* where = nullptr;
    const char* inputs = "";
    std::size_t inputs_size = 0;
    const char* input_shapes = "";
    std::size_t input_shapes_size = 0;
    const void* const* input_addresses = nullptr;
    std::size_t input_addresses_size = 0;
    const char* outputs = "";
    std::size_t outputs_size = 0;
    const void* const* output_addresses = nullptr;
    std::size_t output_addresses_size = 0;
    std::uint64_t id = 0;
    std::uint64_t task = 0;
    std::int64_t sequence_nr = -1;
    std::uint32_t thread = 0;
    scope_kind kind = scope_kind::function;
    bool may_change_threads = false;
};

struct value_source;

}  // namespace detail
}  // namespace coroscope
