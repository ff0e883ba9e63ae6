// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a tool shows for a scope, in torch's form.

#include <string>

#include <coroscope/observer.hpp>

namespace coroscope {

class emitted_text {
public:
    explicit emitted_text(bool shapes) noexcept : shapes_(shapes) {}

    std::string of(const scope_info& scope) const {
        std::string text(scope.name().data(), scope.name().size());
        if (scope.sequence_nr() >= 0) text += ", seq = " + std::to_string(scope.sequence_nr());
        if (shapes_ && scope.id() > 0) text += ", op_id = " + std::to_string(scope.id());
        return text;
    }

private:
    bool shapes_;
};

}  // namespace coroscope
