// SPDX-License-Identifier: Apache-2.0
#include "firefox_tables.hpp"

#include <algorithm>
#include <cstddef>

#include "../../text/utf8.hpp"
#include "../../words/places.hpp"

namespace coroscope::analysis::inline profiles {
namespace {

class shared_tables {
public:
    shared_tables(chrome_writer& out, const trace& from, const frame_tree& frames,
                  firefox_strings& strings)
        : out_(out), from_(from), frames_(frames), strings_(strings) {
        for (std::uint32_t frame = 0; frame < frames.frame_count(); ++frame) {
            names_.push_back(strings.number_of(frames.text_of(frame)));
            sources_of_.push_back(source_of(frame));
        }
    }

    void write() {
        out_.raw("\"shared\":{");
        write_stacks();
        write_frames();
        write_functions();
        out_.raw(
            ",\"resourceTable\":{\"length\":0,\"type\":[],\"lib\":[],\"name\":[],\"host\":[]}");
        out_.raw(",\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],");
        out_.raw("\"functionSize\":[]}");
        write_sources();
        out_.raw(",\"stringArray\":");
        strings_.write(out_);
        out_.raw("}");
    }

private:
    void begin_table(std::string_view name, std::size_t length) {
        out_.raw(name).raw("{\"length\":").integer(static_cast<std::int64_t>(length));
    }
    template <class Cell>
    void column(std::string_view name, std::size_t count, const Cell& cell) {
        out_.raw(",");
        write_column(out_, name, count, cell);
    }
    void same(std::string_view name, std::size_t count, std::string_view cell) {
        column(name, count, [&](std::size_t) { out_.raw(cell); });
    }
    void maybe(std::uint32_t number, std::uint32_t unknown) {
        if (number == unknown)
            out_.raw("null");
        else
            out_.integer(number);
    }

    /// The root of the tree has no stack.
    void write_stacks() {
        const std::size_t count = frames_.size() - 1;
        begin_table("\"stackTable\":", count);
        column("frame", count, [&](std::size_t at) {
            out_.integer(frames_.frame_of(static_cast<std::uint32_t>(at) + 1));
        });
        column("prefix", count, [&](std::size_t at) {
            const std::uint32_t parent = frames_.parent_of(static_cast<std::uint32_t>(at) + 1);
            maybe(parent == 0 ? none : parent - 1, none);
        });
        out_.raw("}");
    }

    void write_frames() {
        const std::size_t count = frames_.frame_count();
        begin_table(",\"frameTable\":", count);
        same("address", count, "-1");
        same("inlineDepth", count, "0");
        column("category", count, [&](std::size_t at) { out_.integer(category_of(at)); });
        same("subcategory", count, "0");
        column("func", count, [&](std::size_t at) { out_.integer(static_cast<std::int64_t>(at)); });
        same("nativeSymbol", count, "null");
        same("innerWindowID", count, "null");
        column("line", count, [&](std::size_t at) { maybe(line_of(at), 0); });
        same("column", count, "null");
        out_.raw("}");
    }

    void write_functions() {
        const std::size_t count = frames_.frame_count();
        begin_table(",\"funcTable\":", count);
        column("name", count, [&](std::size_t at) { out_.integer(names_[at]); });
        same("isJS", count, "false");
        same("relevantForJS", count, "false");
        same("resource", count, "-1");
        column("source", count, [&](std::size_t at) { maybe(sources_of_[at], none); });
        column("lineNumber", count, [&](std::size_t at) { maybe(line_of(at), 0); });
        same("columnNumber", count, "null");
        out_.raw("}");
    }

    void write_sources() {
        begin_table(",\"sources\":", files_.size());
        same("id", files_.size(), "null");
        column("filename", files_.size(), [&](std::size_t at) { out_.integer(files_[at]); });
        same("startLine", files_.size(), "1");
        same("startColumn", files_.size(), "1");
        same("sourceMapURL", files_.size(), "null");
        out_.raw("}");
    }

    [[nodiscard]] std::uint32_t source_of(std::uint32_t frame) {
        const site_info* const site = find_site(from_, frames_.site_of(frame));
        if (site == nullptr || site->file.empty()) return none;
        const std::uint32_t file = strings_.number_of(site->file);
        const auto [found, is_new] =
            source_numbers_.try_emplace(file, static_cast<std::uint32_t>(files_.size()));
        if (is_new) files_.push_back(file);
        return found->second;
    }

    [[nodiscard]] std::uint32_t line_of(std::size_t frame) const {
        const site_info* const site =
            find_site(from_, frames_.site_of(static_cast<std::uint32_t>(frame)));
        return site == nullptr ? 0 : site->line;
    }

    /// The frame "[queued]" has the category of that name.
    [[nodiscard]] std::int64_t category_of(std::size_t frame) const {
        std::string_view text = frames_.text_of(static_cast<std::uint32_t>(frame));
        if (text.size() < 2 || !text.starts_with('[') || !text.ends_with(']')) return 0;
        text = text.substr(1, text.size() - 2);
        const auto* const found =
            std::ranges::find(firefox_categories, text, &firefox_category::name);
        return found == firefox_categories.end() ? 0 : found - firefox_categories.begin();
    }

    chrome_writer& out_;
    const trace& from_;
    const frame_tree& frames_;
    firefox_strings& strings_;
    std::vector<std::uint32_t> names_;       // by frame: number of its string
    std::vector<std::uint32_t> sources_of_;  // by frame
    std::vector<std::uint32_t> files_;       // by source: number of its string
    std::unordered_map<std::uint32_t, std::uint32_t> source_numbers_;
};

}  // namespace

std::uint32_t firefox_strings::number_of(std::string_view text) {
    const auto [found, is_new] =
        numbers_.try_emplace(printable(text), static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(&found->first);
    return found->second;
}

void firefox_strings::write(chrome_writer& out) const {
    out.raw("[");
    std::string text;
    for (const std::string* const each : texts_) {
        text.clear();
        if (each != texts_.front()) text += ',';
        append_json_string(text, *each);
        out.raw(text);
    }
    out.raw("]");
}

void write_firefox_tables(chrome_writer& out, const trace& from, const frame_tree& frames,
                          firefox_strings& strings) {
    shared_tables(out, from, frames, strings).write();
}

}  // namespace coroscope::analysis::inline profiles
