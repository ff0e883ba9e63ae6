// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reason why a thread was blocked, as a sentence.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/lock_holders.hpp>
#include <coroscope/analysis/model.hpp>

#include "../../model/thread_waits.hpp"
#include "../../words/call_names.hpp"

namespace coroscope::analysis::inline listings {

class blocking_text {
public:
    /// `loaded` must outlive it.
    explicit blocking_text(const trace& loaded);

    /// Returns reasons such as "48.2 ms in futex 0x7f10, held by thread worker (2) in scope
    /// audit.flush (task 17)", the longest ones first. Recorded waits and calls come before what
    /// the looks at the thread saw. Empty if the trace has no reason.
    [[nodiscard]] std::string of(std::uint32_t thread, std::int64_t from_ns,
                                 std::int64_t to_ns) const;

private:
    struct stretch;
    struct reason;
    [[nodiscard]] std::vector<reason> recorded(std::uint32_t thread, std::int64_t from_ns,
                                               std::int64_t to_ns) const;
    [[nodiscard]] std::vector<stretch> stretches(std::uint32_t thread, std::int64_t from_ns,
                                                 std::int64_t to_ns) const;
    [[nodiscard]] std::string text(const stretch& what) const;
    [[nodiscard]] std::string holder_text(std::uint32_t look) const;

    const trace& loaded_;
    thread_waits waits_;
    call_names names_;
    std::vector<lock_holder> holders_;  // by look
};

}  // namespace coroscope::analysis::inline listings
