// SPDX-License-Identifier: Apache-2.0

// Chrome traces that are malformed, cut, or larger than the reader's window.

#include "../reading.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <simdjson.h>
#include <zlib.h>

namespace {

using namespace coroscope::analysis;
using coroscope_tests::complete;
using coroscope_tests::events_of_text;
using coroscope_tests::read_events;
using coroscope_tests::rows_of;
using coroscope_tests::trace_of;

/// "message @ offset" of a load that must fail.
std::string failure_of(const std::string& text, const load_options& options = {.strict = true}) {
    const auto loaded = read_events(text, options);
    INFO(text);
    REQUIRE_FALSE(loaded.has_value());
    const failure& why = loaded.error();
    return why.message + (why.byte_offset ? " @ " + std::to_string(*why.byte_offset) : "");
}

/// The error at the '^' of the text. The '^' itself is removed before the load.
std::string failure_at(std::string text) {
    const std::size_t mark = text.find('^');
    REQUIRE(mark != std::string::npos);
    text.erase(mark, 1);
    const std::string why = failure_of(text);
    const std::size_t at = why.rfind(" @ ");
    INFO(why);
    REQUIRE(at != std::string::npos);
    CHECK(why.substr(at + 3) == std::to_string(mark));
    return why.substr(0, at);
}

/// The event with the mark for failure_at() before it.
std::string marked(std::string event) { return event.insert(0, 1, '^'); }

std::string gzip(const std::string& text) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                         Z_DEFAULT_STRATEGY) == Z_OK);
    std::string packed(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    packed.resize(packed.size() - stream.avail_out);
    deflateEnd(&stream);
    return packed;
}

TEST_CASE("an error of malformed JSON has its byte") {
    const std::string good = complete("a", "1", "1");
    CHECK(failure_at(trace_of(complete("a\"^b", "1", "1"))) ==
          "there is neither ',' nor an end after a value");
    CHECK(failure_at(trace_of(good + "," +
                              complete("a^\x01"
                                       "b",
                                       "1", "1"))) == "a control character in a text");
    CHECK(failure_at(trace_of(good + " ^" + good)) ==
          "there is neither ',' nor ']' after an event");
    CHECK(failure_at(trace_of(complete("a", "1", "1", R"(, "args": {"x": "a"^b"c"})"))) ==
          "there is neither ',' nor an end after a value");
    CHECK(failure_at(trace_of(complete("a", "1", "1", R"(, "args": {"x": 1^]})"))) ==
          "the wrong bracket");
    CHECK(failure_at(trace_of(complete("a", "1", "1", R"(, "args": {"x": 1.^.2})"))) ==
          "a number without digits");
    CHECK(failure_at(trace_of(complete("a", "1", "1", R"(, "args": {"x": tru^})"))) ==
          "a word that JSON does not have");
    CHECK(failure_at(trace_of(complete("a", "1", "1", R"(, "args": {"x" ^1})"))) ==
          "there is no ':' after a key");
    CHECK(failure_at(trace_of(complete("a", "1", "1", R"(, "args": {^x: 1})"))) ==
          "there is no key");
    CHECK(failure_at(R"({"traceEvents": [] ^"x": 1})") ==
          "there is neither ',' nor '}' after a member");
    CHECK(failure_at("[" + good + "]^x") == "there is text behind the end of the document");
}

TEST_CASE(
    "a missing brace behind a key is an error at its byte, for keys and values of each kind") {
    const std::string good = complete("a", "1", "1");
    for (const char* key : {"args", "x", "cat", "id2", "ts", "dur"})
        CHECK(failure_at(trace_of(R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1,")" +
                                  std::string(key) + R"(":"External id"^:1,"device":0}},)" +
                                  good)) == "there is neither ',' nor an end after a value");
    for (const char* value : {R"([1, "y"^: 2}])", R"({"y": "z"^: 2}})", R"("y"^: 2}})"})
        for (const char* key : {"x", "Input Dims", "External id", "Call stack", "name"}) {
            const std::string text = trace_of(complete(
                "a", "1", "1", R"(, "args": {")" + std::string(key) + "\": " + value + "}"));
            CHECK(failure_at(text) == "there is neither ',' nor an end after a value");
        }
}

TEST_CASE("parts of an event that are not read are checked like the rest") {
    CHECK(failure_at(R"([{"ph":"M","name":"x","ts":1^a},{}])") ==
          "there is neither ',' nor an end after a value");
    CHECK(failure_at(R"([{"ph":"C","name":"x","ts":0^1},{}])") == "a number that begins with 0");
    CHECK(failure_at(R"([{"ph":"X","name":"x","ts":0^1,"dur":1},{}])") ==
          "a number that begins with 0");
    CHECK(failure_at(R"([{"ph":"X","name":"x","ts":1e+^-3,"dur":1},{}])") ==
          "a number without digits");
    CHECK(failure_at(R"([{"ph":"B","name":"x","ts":1,"dur":-^},{}])") == "a number without digits");
    CHECK(failure_at(R"([{"ph":"X","name":"x","ts":1^a,"ts":2,"dur":1},{}])") ==
          "there is neither ',' nor an end after a value");
    for (const char* phase : {"E", "C", "i", "M", "s", "n", "?"})
        CHECK(failure_at(R"([{"ph":")" + std::string(phase) +
                         R"(","name":"[memory]","ts":1,"args":{"Input Dims":[1 ^2]}},{}])") ==
              "there is neither ',' nor an end after a value");
    CHECK(failure_at(R"([{"ph":"X","name":"a","ts":1,"args":{"Addr":[1 ^2]}},{}])") ==
          "there is neither ',' nor an end after a value");
    for (const char* next : {"[]", "7"})
        CHECK(
            failure_at(R"([{"ph":"X","name":"a","ts":1,"args":{"Input Dims":[1 ^2],"Input Dims":)" +
                       std::string(next) + "}},{}])") ==
            "there is neither ',' nor an end after a value");
    CHECK(
        failure_at(R"([{"ph":"X","name":"a","ts":1,"args":{"Input Dims":[1 ^2]},"args":{}},{}])") ==
        "there is neither ',' nor an end after a value");
}

TEST_CASE("an unknown escape is an error in names and in arguments that are not read") {
    const auto with = [](const char* text) {
        return trace_of(
            complete("a", "1", "1", R"(, "args": {"x": ")" + std::string(text) + "\"}"));
    };
    CHECK(failure_at(trace_of(complete(R"(a\^q)", "1", "1"))) == "an unknown escape in a text");
    CHECK(failure_at(with(R"(\^q)")) == "an unknown escape in a text");
    CHECK(failure_at(with(R"(\\\^0)")) == "an unknown escape in a text");
    CHECK(failure_at(with(R"(\u12^")")) == "\\u is not followed by four hexadecimal digits");
    CHECK(failure_at(with(R"(\u12^x4)")) == "\\u is not followed by four hexadecimal digits");
    CHECK(rows_of(events_of_text(with(R"(\" \\ \/ \b\f\n\r\t \u20aC)"))) == "a[1000,2000]");
}

TEST_CASE("bytes of a name that are not UTF-8 are an error at their byte") {
    CHECK(failure_at(trace_of(complete("a^\xff", "1", "1"))) == "bytes that are not UTF-8");
    CHECK(failure_at(trace_of(complete("a\xe2\x82^ b", "1", "1"))) == "bytes that are not UTF-8");
    CHECK(failure_at(trace_of(complete("a\xed^\xa0\x80", "1", "1"))) == "bytes that are not UTF-8");
    CHECK(rows_of(events_of_text(trace_of(complete("\xe2\x82\xac", "1", "1")))) ==
          "\xe2\x82\xac[1000,2000]");
}

TEST_CASE("NaN and Infinity are errors unless an option accepts them") {
    for (const char* word : {"NaN", "Infinity", "-Infinity", "nan", "-inf"}) {
        const std::string text =
            trace_of(complete("a", "1", "1", R"(, "args": {"x": [0, )" + std::string(word) + "]}"));
        CHECK(failure_of(text).starts_with("NaN or Infinity, which JSON does not have"));
        CHECK(rows_of(events_of_text(text, {.accept_nan = true})) == "a[1000,2000]");
    }
}

TEST_CASE("nesting deeper than 256 levels is refused") {
    const auto nested = [](std::size_t depth) {
        return trace_of(complete("a", "1", "1",
                                 R"(, "args": {"x": )" + std::string(depth, '[') +
                                     std::string(depth, ']') + "}"));
    };
    CHECK(rows_of(events_of_text(nested(200))) == "a[1000,2000]");
    CHECK(failure_of(nested(1000)).starts_with("nested deeper than 256 levels @ "));
    CHECK(failure_of(std::string(100'000, '[')).starts_with("nested deeper than 256 levels @ "));
    CHECK(failure_of(R"({"x": )" + std::string(1000, '[')).starts_with("nested deeper"));
}

TEST_CASE("a value of the wrong type is an error at its event") {
    CHECK(failure_at(trace_of(marked(complete("a", "true", "1")))) ==
          "\"ts\" is no number of microseconds, or too large a one");
    CHECK(failure_at(trace_of(marked(complete("a", "1", "\"x\"")))) ==
          "\"dur\" is no number of microseconds, or too large a one");
    CHECK(failure_at(trace_of(marked(complete("a", "9300000000000000", "1")))) ==
          "\"ts\" is no number of microseconds, or too large a one");
    CHECK(failure_at(trace_of(marked(complete("a", "9200000000000000", "9200000000000000")))) ==
          "\"ts\" and \"dur\" together are too large");
    CHECK(failure_at(trace_of(R"(^{"ph":"X","name":["a"],"ts":1,"dur":1})")) ==
          "\"name\" is no text");
    CHECK(failure_at(trace_of(R"(^{"ph":1,"name":"a","ts":1,"dur":1})")) ==
          "an event without \"ph\", its phase");
    CHECK(failure_at(trace_of(R"(^{"ph":"X","name":"a","dur":1})")) ==
          "an event without \"ts\", its time");
    CHECK(failure_at(trace_of("{}, ^7")) == "an event that is no object");
    CHECK(failure_at(trace_of("^[1, 2]")) == "an event that is no object");
    CHECK(failure_of(R"({"a": 1})").starts_with("has no \"traceEvents\""));
    CHECK(failure_of(R"({"traceEvents": 7})").starts_with("has no \"traceEvents\""));
    CHECK(failure_of("hello").starts_with("is no trace that coroscope reads"));
    CHECK(failure_of("").starts_with("is empty"));
}

TEST_CASE("events beyond 146 years from the zero of their clock are cut there, and counted") {
    const event_list list = events_of_text(trace_of(complete("far", "5000000000000000.000", "5") +
                                                    ",\n" + complete("near", "1", "2")));
    REQUIRE(list.health.warnings.size() == 1);
    CHECK(list.health.warnings[0] ==
          "events that reach further than 146 years from the zero of their clock, cut there: 1");
    CHECK(rows_of(list) == "near[1000,3000] far[4611686018427387903,4611686018427387903]");
}

TEST_CASE("a trace that spans more nanoseconds than 64 bits hold has the longest duration") {
    const event_list list =
        events_of_text(trace_of(complete("first", "-9000000000000000", "1") + ",\n" +
                                complete("last", "9100000000000000", "1")));
    CHECK(list.duration_ns == 9'223'372'036'854'775'807);
}

TEST_CASE("a trace that was cut keeps its events, and says how many there are") {
    const std::string events = complete("a", "1", "1") + "," + complete("b", "2", "1");
    for (const std::string& text :
         {"[" + events + ",\n", "[" + events, "[" + events + R"(,{"ph":"X","na)",
          R"({"traceEvents":[)" + events + ", ", R"({"traceEvents":[)" + events + R"(], "meta)"}) {
        const event_list list = events_of_text(text);
        CHECK(rows_of(list) == "a[1000,2000] b[2000,3000]");
        REQUIRE(list.health.warnings.size() == 1);
        CHECK(list.health.warnings[0] == "the file ends too early, at byte " +
                                             std::to_string(text.size()) +
                                             ": 2 events were read before that");
    }
    CHECK(failure_of(R"([{"ph":"X","na)") ==
          "ends too early: there is no complete event in it @ 14");
    CHECK(events_of_text("[" + events + ",]").health.warnings.empty());
}

/// The warning about an odd event, at its '^'. The good events before and behind it must be read.
std::string oddity_of(const std::string& odd) {
    std::string text =
        trace_of(complete("a", "1", "1") + ",\n" + odd + ",\n" + complete("b", "2", "1"));
    const std::size_t mark = text.find('^');
    const event_list list = events_of_text(text.erase(mark, 1));
    CHECK(rows_of(list) == "a[1000,2000] b[2000,3000]");
    REQUIRE(list.health.warnings.size() == 1);
    std::string warning = list.health.warnings[0];
    const std::string begin =
        "odd events, left out, the first at byte " + std::to_string(mark) + " (";
    INFO(warning);
    REQUIRE((warning.starts_with(begin) && warning.ends_with("): 1")));
    return warning.substr(begin.size(), warning.size() - begin.size() - 4);
}

TEST_CASE("an odd event is left out and counted with its reason, and the others are read") {
    CHECK(oddity_of(R"(^{"ph":"X","name":null,"ts":0})") == "\"name\" is no text");
    CHECK(oddity_of(R"(^{"ph":"X","name":"x","ts":true})") ==
          "\"ts\" is no number of microseconds, or too large a one");
    CHECK(oddity_of("{\"ph\":\"X\",\"name\":\"x^\x01\",\"ts\":0}") ==
          "a control character in a text");
    CHECK(oddity_of("{\"ph\":\"X\",\"name\":\"x^\xff\",\"ts\":0}") == "bytes that are not UTF-8");
    CHECK(oddity_of("^7") == "an event that is no object");
    CHECK(oddity_of(R"({"ph":"X","name":"x","ts":0,"args":{"x":[{"y":0^1},{"z":1}]}})") ==
          "a number that begins with 0");
    CHECK(oddity_of(R"({"ph":"X","name":"x,"^ts":0})") ==
          "there is neither ',' nor an end after a value");
}

TEST_CASE("odd events are counted by reason, however many there are") {
    constexpr std::size_t many = 20'000;  // some windows
    std::string text = complete("good", "0", "1");
    for (std::size_t at = 1; at <= many; ++at)
        text += ",\n" + complete(at % 2 == 1 ? "\x01" : "\\q", "1", "1") + ",\n" +
                complete("good", std::to_string(at), "1");
    const event_list list = events_of_text(trace_of(text));
    CHECK(list.rows.size() == many + 1);
    REQUIRE(list.health.warnings.size() == 2);
    CHECK(list.health.warnings[0].ends_with("(a control character in a text): 10000"));
    CHECK(list.health.warnings[1].ends_with("(an unknown escape in a text): 10000"));
}

TEST_CASE("an odd event with unmatched quotes does not hide a good event") {
    const std::string odd = R"({"ph":"X","name":"x,"ts":0,"dur":1})";
    const event_list list = events_of_text(
        trace_of(odd + "," + complete("a", "1", "1") + "," + odd + "," + complete("b", "2", "1")));
    CHECK(rows_of(list) == "a[1000,2000] b[2000,3000]");
    REQUIRE(list.health.warnings.size() == 1);
    CHECK(list.health.warnings[0].ends_with(": 2"));
}

TEST_CASE("a trace of odd events alone is refused, and a strict load refuses the first odd event") {
    const std::string odd = R"({"ph":"X","name":null,"ts":0})";
    const auto refused = read_events(trace_of(odd));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message == "\"name\" is no text");
    CHECK(failure_at(trace_of(complete("a", "1", "1") + "," + marked(odd))) ==
          "\"name\" is no text");
}

/// Events with text inside that looks like the end of an event.
std::string misleading(std::size_t count) {
    std::string text;
    for (std::size_t at = 0; at < count; ++at) {
        text += at == 0 ? "" : ",\n";
        text +=
            complete("}, {\\\"\\\\", std::to_string(at), "0.5",
                     R"(, "args": {"list": [{"a": "}, {"}, {"b": [{}, {}]}, {"c": 1}, {"c": 2}]})");
    }
    return text;
}

TEST_CASE("a trace of many windows is read whole") {
    constexpr std::size_t many = 20'000;  // some megabytes
    const event_list list = events_of_text(trace_of(misleading(many)));
    CHECK(list.health.warnings.empty());
    REQUIRE(list.rows.size() == many);
    for (std::size_t at = 0; at < many; ++at)
        REQUIRE(list.rows[at].start_ns == static_cast<std::int64_t>(at) * 1000);
}

TEST_CASE("an event longer than a window is read, and so are events between long members") {
    const std::string huge(3'000'000, 'x');
    const event_list list =
        events_of_text("{\"before\": \"" + huge + "\", \"traceEvents\": [" +
                       complete("a", "1", "1") + "," + complete(huge, "2", "1") + "," +
                       complete("b", "3", "1") + "], \"behind\": [\"" + huge + "\"]}");
    REQUIRE(list.rows.size() == 3);
    CHECK(list.text(list.rows[1].name) == huge);
    CHECK(list.health.warnings.empty());
}

TEST_CASE("an error far behind the first window has its byte in the file") {
    std::string text = trace_of(misleading(20'000) + ",\n" + complete("a\"^b", "1", "1") + ",\n" +
                                misleading(1'000));
    CHECK(failure_at(std::move(text)) == "there is neither ',' nor an end after a value");
}

TEST_CASE(
    "compressed traces are read, in several members too, and a cut or damaged one is reported") {
    const std::string text = trace_of(misleading(10'000));
    const event_list list = events_of_text(gzip(text));
    CHECK(list.rows.size() == 10'000);
    const std::string halves =
        gzip(text.substr(0, 100'001)) + gzip(text.substr(100'001)) + std::string(512, '\0');
    CHECK(events_of_text(halves).rows.size() == 10'000);
    const event_list cut = events_of_text(gzip(text).substr(0, gzip(text).size() / 2));
    CHECK(cut.rows.size() < 10'000);
    CHECK_FALSE(cut.health.warnings.empty());
    std::string damaged = gzip(text);
    damaged[damaged.size() - 5] ^= 1;  // in its checksum
    CHECK(failure_of(damaged).starts_with(
        "the compressed data is damaged (incorrect data check) @ "));
}

const std::string everything =
    R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A \"B\" \u00e9"}], "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": "2", "ts": 1.5, "dur": 2.25,
 "args": {"External id": 4, "Input Dims": [[2, 3], []], "Sequence number": 1, "x": [{"y": null}, -1e-3, true]}},
{"ph":"B","name":"b","pid":1,"tid":2,"ts":2},{"ph":"E","pid":1,"tid":2,"ts":3.125},
{"ph":"b","cat":"c","name":"d","id2":{"local":"0x1"},"pid":1,"tid":2,"ts":2},
{"ph":"e","cat":"c","name":"d","id2":{"local":"0x1"},"pid":1,"tid":3,"ts":9},
{"ph":"i","s":"t","name":"[memory]","pid":1,"tid":2,"ts":2,"args":{"Bytes":-7,"Addr":1,"Device Type":0}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"m"}},
{"ph":"s","id":3,"cat":"ac2g","name":"ac2g","pid":1,"tid":2,"ts":2},{"ph":"C","name":"n","ts":1,"args":{"v":1}}
], "traceName": "t"})";

/// Loads arbitrary text. A failure must have a message and an offset in the text, and the rows of a
/// list must be sound.
void try_to_load(const std::string& text) {
    const auto loaded = read_events(text, {.keep_arguments = true});
    if (!loaded) {
        CHECK_FALSE(loaded.error().message.empty());
        CHECK(loaded.error().byte_offset.value_or(0) <= text.size());
        return;
    }
    for (const event_row& row : loaded->rows) {
        CHECK(row.end_ns >= row.start_ns);
        CHECK(row.thread < loaded->threads.size());
    }
}

TEST_CASE("a trace cut at any byte is read as far as it goes, or refused") {
    const std::size_t whole = events_of_text(everything).rows.size();
    for (std::size_t size = 0; size < everything.size(); ++size) {
        const auto loaded = read_events(everything.substr(0, size));
        if (!loaded) continue;
        INFO(size);
        CHECK(loaded->rows.size() <= whole);
        CHECK_FALSE(loaded->health.warnings.empty());
    }
}

TEST_CASE("a trace with any byte changed is read or refused") {
    std::string text = everything;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char good = text[at];
        for (const char bad : {'"', '}', '{', ']', ',', '\\', '\x01', '\xff', '9', ' '}) {
            text[at] = bad;
            try_to_load(text);
        }
        text[at] = good;
    }
}

/// Returns whether another parser accepts the text as JSON. One trailing comma behind the events is
/// allowed, as in our reader.
bool is_json(const std::string& text) {
    simdjson::dom::parser parser;
    if (parser.parse(simdjson::padded_string(text)).error() == simdjson::SUCCESS) return true;
    std::string without = text;
    const std::size_t end = without.rfind(']');
    if (end == std::string::npos) return false;
    const std::size_t comma = without.find_last_not_of(" \n", end - 1);
    if (comma == std::string::npos || without[comma] != ',') return false;
    without[comma] = ' ';
    return parser.parse(simdjson::padded_string(without)).error() == simdjson::SUCCESS;
}

/// Text that is no JSON must not load without a warning about a cut or an event that was left out.
void check_refused_unless_json(const std::string& text) {
    if (is_json(text)) return;
    for (const bool keep : {false, true}) {
        const auto lenient = read_events(text, {.keep_arguments = keep});
        if (lenient && lenient->health.warnings.empty()) FAIL_CHECK("accepted: " << text);
        const auto loaded = read_events(text, {.keep_arguments = keep, .strict = true});
        if (loaded && loaded->health.warnings.empty()) FAIL_CHECK("accepted: " << text);
        for (const std::string& each :
             loaded ? loaded->health.warnings : std::vector<std::string>())
            if (!each.starts_with("the file ends too early")) FAIL_CHECK("accepted: " << text);
    }
}

TEST_CASE(
    "text that another parser refuses does not load without a warning, with any byte removed") {
    REQUIRE(is_json(everything));
    for (std::size_t at = 0; at < everything.size(); ++at) {
        std::string text = everything;
        check_refused_unless_json(text.erase(at, 1));
    }
}

TEST_CASE(
    "text that another parser refuses does not load without a warning, with any byte changed") {
    for (std::size_t at = 0; at < everything.size(); ++at) {
        std::string text = everything;
        for (const char other :
             {'"', '{', '}', '[', ']', ',', ':', '\\', '0', 'e', '-', '.', ' ', 'a'}) {
            text[at] = other;
            check_refused_unless_json(text);
        }
    }
}

TEST_CASE("text that another parser refuses does not load without a warning, with any byte added") {
    for (std::size_t at = 0; at <= everything.size(); ++at)
        for (const char more : {'"', '{', '}', '[', ']', ',', ':', '0', '-'}) {
            std::string text = everything;
            check_refused_unless_json(text.insert(at, 1, more));
        }
}

}  // namespace
