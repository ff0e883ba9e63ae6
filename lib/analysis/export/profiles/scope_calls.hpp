// SPDX-License-Identifier: Apache-2.0
#pragma once

// The calls that led from one scope into the next, from the stacks that were recorded when scopes
// began.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "../../symbols/dwarf_files.hpp"

namespace coroscope::analysis::inline profiles {

class scope_calls {
public:
    /// `from` must outlive it.
    explicit scope_calls(const trace& from) : from_(from) {}

    /// Returns the functions, outermost first, from the call in the function of the enclosing scope
    /// to the function of the scope (an index into trace::events). Without an enclosing scope they
    /// begin in the coroutine of the task. If that is not on the stack, as in a job of an executor,
    /// they begin behind the last call of Asio, the standard library or the profiler. Outside tasks
    /// they begin with the thread. Empty without a stack, or if the enclosing function is not on
    /// it. Functions without a name, and those of the profiler that begin the scope, are left out.
    /// The texts live as long as this object.
    [[nodiscard]] std::vector<std::string_view> of(std::uint32_t event);

private:
    struct function {
        std::string name;
        bool in_library = false;
        bool is_own = false;  // of the profiler
    };
    using calls = std::vector<const function*>;  // outermost first

    [[nodiscard]] const call_stack* stack_of(std::uint32_t event) const;
    [[nodiscard]] calls calls_of(const call_stack& stack);
    [[nodiscard]] const std::vector<function>& functions_at(std::uint64_t address);
    void begin_in_scope(calls& of, std::uint32_t enclosing);
    void begin_in_task(calls& of, std::uint32_t task) const;

    const trace& from_;
    std::optional<dwarf_files> files_;  // opened with the first stack
    std::unordered_map<std::uint64_t, std::vector<function>> functions_;  // innermost first
};

}  // namespace coroscope::analysis::inline profiles
