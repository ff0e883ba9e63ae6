// SPDX-License-Identifier: Apache-2.0

// The name of a trace in each form that a program may have it.
// usage: file_names FOLDER      writes several traces there

#include <coroscope/coroscope.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace {

bool exists(const std::string& path) { return std::filesystem::exists(path); }

bool records(const coroscope::profile_options& options) {
    const coroscope::profile session(options);
    return session.status().state == coroscope::session_state::recording;
}

// The options keep the names of temporaries that are gone.
bool keeps_temporaries(const std::string& folder) {
    coroscope::profile_options options{.output = folder + "/a temporary string.cst"};
    const coroscope::profile_options copied = options;
    options.output = std::filesystem::path(folder) / "a temporary path.cst";
    return records(copied) && records(options) && exists(folder + "/a temporary string.cst") &&
           exists(folder + "/a temporary path.cst");
}

bool takes_other_forms(const std::string& folder) {
    const std::string name = folder + "/in place.cst";
    const std::string longer = folder + "/view.cst and more";
    const std::string_view view = std::string_view(longer).substr(0, folder.size() + 9);
    coroscope::profile_options none{.output = name};
    none.output = nullptr;
    return records({.output = name}) && exists(name) && records({.output = view}) &&
           exists(folder + "/view.cst") && none.output == nullptr && records(none);
}

}  // namespace

int main(int count, char** words) {
    if (count != 2) return 2;
    return keeps_temporaries(words[1]) && takes_other_forms(words[1]) ? 0 : 1;
}
