// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adds up the stack scopes of one thread without events. A scope's record comes after those of the
// scopes in it, so the records are read backwards, with a stack of the scopes around the next one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "../answer/running_total.hpp"
#include "../answer/scope_states.hpp"
#include "../load/load_native.hpp"
#include "row_sums.hpp"

namespace coroscope::analysis::inline streamed {

/// A time in which scopes of a task ran on one thread.
struct task_extent {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t task = none;
    std::uint32_t stream = 0;
};

/// The parts of the sums that all threads need, and that none changes.
struct sums_context {
    const loaded_streams& streams;
    const site_rows& rows;
    const scope_states& states;  ///< of the trace, for copies
};

class stream_sums {
public:
    /// `stream` is the index of the thread's stream.
    stream_sums(const sums_context& context, std::uint32_t stream);

    /// Returns false if the events are needed for exact sums: scopes that overlap without nesting,
    /// sites without a description, labels, or states of a scope in which its task handed over.
    bool run();

    // Of a run that returned true.
    [[nodiscard]] const std::vector<row_sums>& rows() const { return sums_; }
    [[nodiscard]] const self_times& self() const { return self_; }
    /// In no order; those of one task must not overlap each other.
    [[nodiscard]] const std::vector<task_extent>& extents() const { return extents_; }
    [[nodiscard]] std::size_t most_open() const { return most_open_; }

private:
    struct open_scope {
        std::int64_t start_ns;
        std::int64_t end_ns;
        std::int64_t self_ns;
        std::uint32_t row;
        bool in_task;
    };
    // The scopes around the next one, of a task or of the thread.
    struct scope_stack {
        std::vector<open_scope> scopes;     // none is empty
        std::vector<std::uint32_t> of_row;  // how many of them; by row
        std::int64_t ended_before_ns;       // start of the scope that was taken off last
        bool is_back = false;               // it had been put away
        task_extent extent;
    };
    // A scope as its record says.
    struct found_scope {
        std::int64_t start_ns;
        std::int64_t end_ns;
        std::uint32_t site_id;
        bool clipped;  // began before the session
    };
    // The parts of a scope's time.
    struct scope_time {
        time_split split;
        std::int64_t own_ns;
    };

    bool take_chunk(std::size_t index);
    bool take_scopes(const unsigned char* records, std::size_t bytes);
    bool take_mixed(std::size_t index);
    bool take_short(const unsigned char* record);
    bool take_long(const coroscope::trace::record_view& record);
    bool take(const found_scope& scope);
    bool measure(const found_scope& scope, scope_time& time) const;
    void set_first(const found_scope& scope, row_sums& sum) const;
    void find_parent_of_empty(const found_scope& scope, row_sums& sum) const;
    void add_states(const found_scope& scope, row_sums& sum, bool nested);
    void add_states_slowly(const found_scope& scope, row_sums& sum, bool nested);
    void find_piece(std::int64_t time_ns);
    void go_to(std::size_t switch_index);
    [[nodiscard]] bool is_in_task() const;
    void enter(std::uint32_t group);
    void leave();
    scope_stack take_stack(std::uint32_t group);
    void take_off();
    void end_extent();
    void end_stack();

    const loaded_streams& streams_;
    const site_rows& row_of_;
    const thread_stream& stream_;
    const timeline& line_;
    clock_map clock_;
    std::uint32_t number_;
    std::size_t switch_;  // in force
    std::uint32_t group_ = none;
    bool in_task_ = false;     // of the scopes from the switch in force on
    std::uint64_t place_ = 0;  // number of scopes taken
    std::int64_t before_ns_;   // end of the scope taken last
    scope_stack open_;
    std::unordered_map<std::uint32_t, scope_stack> kept_;  // by group
    std::vector<scope_stack> unused_;
    std::vector<std::uint32_t> offsets_;
    std::vector<row_sums> sums_;
    self_times self_;
    std::vector<task_extent> extents_;
    std::size_t most_open_ = 0;

    bool any_states_;
    bool has_slices_;  // the thread ran tasks
    std::optional<scope_states> states_;
    const thread_history* history_ = nullptr;
    std::int64_t piece_from_ns_ = 0;  // the piece of the history around the latest scope
    std::int64_t piece_to_ns_ = 0;
    std::int64_t state_times::* piece_part_ = nullptr;
};

}  // namespace coroscope::analysis::inline streamed
