// SPDX-License-Identifier: Apache-2.0
#pragma once

// The data of an observed scope: the facts behind scope_info, which an instrumented block provides.

#include <cstddef>
#include <cstdint>

namespace coroscope {

struct site;

/// Kinds of scopes, for observers. torch's other kinds (kernel dtypes, TorchScript, custom classes,
/// …) have no counterpart here.
enum class scope_kind : std::uint8_t {
    function,           ///< a label of the source: COROSCOPE, _FUNCTION, _CAT, _ARGS
    backward_function,  ///< record_function around deferred work (sequence.hpp)
    user_scope,         ///< any other record_function
    range,              ///< range: ends at a completion
    await,              ///< COROSCOPE_AWAIT; only the promise can await the operand
};

namespace detail {

inline constexpr unsigned scope_kinds = 5;
static_assert(scope_kinds == static_cast<unsigned>(scope_kind::await) + 1);
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
