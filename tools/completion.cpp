// SPDX-License-Identifier: Apache-2.0
#include "completion.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "completion/scripts.hpp"
#include "output.hpp"

namespace coroscope::tools {
namespace {

using script = std::string (*)(const std::vector<command_words>&);

const std::map<std::string, script> scripts{
    {"bash", bash_script}, {"fish", fish_script}, {"zsh", zsh_script}};

}  // namespace

void add_completion(CLI::App& root, command_line& line) {
    auto shell = std::make_shared<std::string>();
    std::vector<std::string> names;
    for (const auto& [name, unused] : scripts) names.push_back(name);
    CLI::App* completion = root.add_subcommand(
        "completion", "Print the script by which a shell completes the command's words");
    completion->add_option("SHELL", *shell, "The shell")
        ->required()
        ->check(CLI::IsMember(names))
        ->type_name("");
    completion->footer("Example:\n  source <(coroscope completion bash)");
    completion->callback([shell, &root, &line] {
        line.chosen = [shell, &root] { return print(scripts.at(*shell)(describe_commands(root))); };
    });
    CLI::App* manual = root.add_subcommand("manual", "Print the manual as a man page");
    manual->footer("Example:\n  coroscope manual | man -l -");
    manual->callback([&root, &line] {
        line.chosen = [&root] {
            return print(manual_page(describe_commands(root), root.get_description()));
        };
    });
}

}  // namespace coroscope::tools
