// SPDX-License-Identifier: Apache-2.0
#pragma once

// The text of a scope for a tool, in torch's form: the name; ", seq = N"; and with shapes ", op_id
// = N", ", sizes = [[2, 3], []]" and ", input_op_ids = [(1,0), (0,-1)]". Any thread may use it.

#include <cstdint>
#include <mutex>
#include <string>

#include <coroscope/observer.hpp>

#include "../../runtime/base/forked_mutex.hpp"
#include "recent_producers.hpp"

namespace coroscope {

class emitted_text {
public:
    /// Shared by all objects: it outlives each of them, and a fork waits for it.
    static inline constinit runtime::forked_mutex mutex{runtime::fork_rank::inner};

    explicit emitted_text(bool shapes) noexcept : shapes_(shapes) {}

    std::string of(const scope_info& scope) const {
        std::string text(scope.name().data(), scope.name().size());
        if (scope.sequence_nr() >= 0)
            text.append(", seq = ").append(std::to_string(scope.sequence_nr()));
        if (!shapes_) return text;
        if (scope.id() > 0) text.append(", op_id = ").append(std::to_string(scope.id()));
        if (scope.input_shapes().empty()) return text;
        text += ", sizes = ";
        text.append(scope.input_shapes().data(), scope.input_shapes().size());
        text.append(", input_op_ids = ").append(producers_of(scope));
        return text;
    }

    /// Must be called at the end of the scope: its outputs belong to this operation from now on.
    void keep_outputs(const scope_info& scope) {
        const std::lock_guard lock(mutex);
        std::int64_t number = 0;
        for (const void* each : scope.output_addresses()) {
            if (each != nullptr) producers_.keep(each, {scope.id(), number});
            ++number;
        }
    }

private:
    std::string producers_of(const scope_info& scope) const {
        const std::lock_guard lock(mutex);
        std::string text = "[";
        for (const void* each : scope.input_addresses()) {
            const auto by = each == nullptr ? recent_producers::producer{} : producers_.find(each);
            if (text.size() > 1) text += ", ";
            text += '(';
            text += std::to_string(by.id);
            text += ',';
            text += std::to_string(by.output);
            text += ')';
        }
        text += ']';
        return text;
    }

    bool shapes_;
    recent_producers producers_;
};

}  // namespace coroscope
