// SPDX-License-Identifier: Apache-2.0
#include "list_facts.hpp"

#include <algorithm>
#include <string>

namespace coroscope::tools {
namespace {

std::string word_of_state(fact_state state) {
    switch (state) {
        case fact_state::yes: return "yes";
        case fact_state::partly: return "partly";
        case fact_state::no: return "no";
        case fact_state::unknown: break;
    }
    return "unknown";
}

}  // namespace

analysis::listing list_facts(const facts& rows) {
    using analysis::cell_kind;
    analysis::listing list;
    list.columns = {{"Fact", "fact", cell_kind::text},
                    {"State", "state", cell_kind::text},
                    {"Why", "why", cell_kind::sentence},
                    {"Change", "change", cell_kind::sentence}};
    for (const fact& each : rows)
        list.rows.push_back({each.name, word_of_state(each.state), each.why, each.change});
    return list;
}

bool lacks_essential(const facts& rows) {
    return std::any_of(rows.begin(), rows.end(), [](const fact& each) {
        return each.essential && each.state == fact_state::no;
    });
}

}  // namespace coroscope::tools
