// SPDX-License-Identifier: Apache-2.0
#include "notes.hpp"

#include <algorithm>
#include <cstring>

namespace coroscope::analysis::inline records {

using coroscope::trace::note_body;
using coroscope::trace::note_kind;
using coroscope::trace::record_view;
using coroscope::trace::sequence_body;

namespace {

// Checks the JSON that the runtime writes: arrays in arrays, integers, and strings whose control
// characters are escaped.
class json_checker {
public:
    explicit json_checker(std::string_view text) : text_(text) {}

    bool run() { return !text_.empty() && text_.front() == '[' && value(0) && at_ == text_.size(); }

private:
    static constexpr int deepest = 8;

    bool value(int depth) {
        if (at_ == text_.size()) return false;
        if (text_[at_] == '[') return depth < deepest && array(depth);
        return text_[at_] == '"' ? string() : integer();
    }
    bool array(int depth) {
        ++at_;
        if (take(']')) return true;
        do {
            spaces();
            if (!value(depth + 1)) return false;
        } while (take(','));
        return take(']');
    }
    bool string() {
        for (++at_; at_ < text_.size(); ++at_) {
            if (text_[at_] == '"') return take('"');
            if (static_cast<unsigned char>(text_[at_]) < 0x20) return false;
            if (text_[at_] == '\\' && !escape()) return false;
        }
        return false;
    }
    bool escape() {
        const std::string_view rest = text_.substr(++at_, 5);
        if (rest.empty()) return false;
        if (rest.front() != 'u') return rest.front() == '"' || rest.front() == '\\';
        at_ += 4;
        return rest.size() == 5 &&
               rest.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string_view::npos;
    }
    bool integer() {
        take('-');
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
        return at_ != begin && (text_[begin] != '0' || at_ - begin == 1);
    }
    bool take(char c) {
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void spaces() {
        while (take(' ')) {
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// Copies the parts of `from` that `into` lacks.
void add(event_note& into, const scope_note& from) {
    switch (from.what) {
        case note_kind::inputs:
            into.input_shapes = from.says.input_shapes;
            into.input_strides = from.says.input_strides;
            into.input_types = from.says.input_types;
            into.concrete_inputs = from.says.concrete_inputs;
            break;
        case note_kind::stack: into.stack = from.says.stack; break;
        case note_kind::sequence:
            into.sequence_number = from.says.sequence_number;
            into.forward_thread = from.says.forward_thread;
            break;
    }
}

}  // namespace

bool is_json_array(std::string_view text) { return json_checker(text).run(); }

void note_reader::read(const record_view& record, std::uint32_t thread, metadata& names,
                       trace& loaded) {
    const std::size_t bytes = std::min<std::size_t>(record.value(), record.payload_bytes());
    const std::string_view payload(reinterpret_cast<const char*>(record.payload()), bytes);
    scope_note note{record.word(0), thread, note_kind{}, {}};
    bool good = payload.size() >= sizeof(note_body);
    if (good) {
        note.what = static_cast<note_kind>(payload.front());
        const std::string_view rest = payload.substr(sizeof(note_body));
        switch (note.what) {
            case note_kind::inputs: good = read_inputs(rest, note, names); break;
            case note_kind::stack: good = read_stack(rest, note, loaded); break;
            case note_kind::sequence: good = read_sequence(rest, note, names); break;
            default: good = false; break;
        }
    }
    if (good)
        notes_.push_back(note);
    else
        ++malformed_;
}

bool note_reader::read_inputs(std::string_view text, scope_note& note, metadata& names) const {
    for (std::uint32_t* into : {&note.says.input_shapes, &note.says.input_strides,
                                &note.says.input_types, &note.says.concrete_inputs}) {
        const std::string_view line = text.substr(0, text.find('\n'));
        if (!is_json_array(line)) return false;
        *into = names.intern(line);
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return text.empty();
}

bool note_reader::read_stack(std::string_view bytes, scope_note& note, trace& loaded) {
    constexpr std::size_t frame_bytes = sizeof(std::uint64_t);
    if (bytes.empty() || bytes.size() % frame_bytes != 0) return false;
    const auto known = stacks_.find(bytes);
    if (known != stacks_.end()) {
        note.says.stack = known->second;
        return true;
    }
    const std::size_t first = loaded.frames.size();
    const std::size_t count = bytes.size() / frame_bytes;
    if (first + count >= none || loaded.stacks.size() >= none) return false;
    loaded.frames.resize(first + count);
    std::memcpy(&loaded.frames[first], bytes.data(), bytes.size());
    note.says.stack = static_cast<std::uint32_t>(loaded.stacks.size());
    loaded.stacks.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)});
    stacks_.emplace(bytes, note.says.stack);
    return true;
}

bool note_reader::read_sequence(std::string_view bytes, scope_note& note, metadata& names) {
    sequence_body body;
    if (bytes.size() != sizeof body) return false;
    std::memcpy(&body, bytes.data(), sizeof body);
    if (body.number < 0 || body.forward_thread >= none) return false;
    note.says.sequence_number = body.number;
    if (body.forward_thread != 0)
        note.says.forward_thread = names.thread(static_cast<std::uint32_t>(body.forward_thread));
    return true;
}

scope_notes::scope_notes(const std::vector<scope_note>& notes) : notes_(notes) {
    entries_.reserve(notes.size());
    for (std::uint32_t at = 0; at < notes.size(); ++at) {
        const auto number = static_cast<std::uint32_t>(entries_.size());
        const auto [latest, is_first] =
            latest_.try_emplace(key{notes[at].start_ticks, notes[at].thread}, number);
        entries_.push_back({at, is_first ? none : latest->second});
        latest->second = number;
    }
}

std::uint32_t scope_notes::take(std::uint32_t thread, std::uint64_t start_ticks) {
    const auto found = latest_.find(key{start_ticks, thread});
    if (found == latest_.end() || found->second == none) return none;
    event_note says;
    unsigned seen = 0;  // a second note of one kind belongs to another scope
    std::uint32_t at = found->second;
    for (; at != none; at = entries_[at].earlier) {
        const scope_note& note = notes_[entries_[at].note];
        const unsigned bit = 1U << static_cast<unsigned>(note.what);
        if ((seen & bit) != 0) break;
        seen |= bit;
        add(says, note);
    }
    found->second = at;
    taken_.push_back(says);
    return static_cast<std::uint32_t>(taken_.size() - 1);
}

void scope_notes::give(std::uint32_t note, trace& loaded) const {
    event_note given = taken_[note];
    given.event = static_cast<std::uint32_t>(loaded.events.size() - 1);
    loaded.notes.push_back(given);
}

}  // namespace coroscope::analysis::inline records

namespace coroscope::analysis {

const event_note* find_note(const trace& loaded, std::uint32_t event) {
    const auto found = std::lower_bound(
        loaded.notes.begin(), loaded.notes.end(), event,
        [](const event_note& note, std::uint32_t wanted) { return note.event < wanted; });
    return found == loaded.notes.end() || found->event != event ? nullptr : &*found;
}

}  // namespace coroscope::analysis
