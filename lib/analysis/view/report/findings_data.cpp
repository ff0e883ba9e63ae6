// SPDX-License-Identifier: Apache-2.0

// Findings as JSON and as SARIF.

#include <coroscope/analysis/findings_views.hpp>

#include <set>
#include <utility>

#include "../../text/json_writer.hpp"
#include "../../words/places.hpp"
#include "json_place.hpp"

namespace coroscope::analysis {
namespace {

constexpr auto compact = json_writer::layout::compact;

std::string_view name_of_basis(finding_basis basis) {
    switch (basis) {
        case finding_basis::marked_requests: return "requests";
        case finding_basis::guessed_requests: return "guessed requests";
        case finding_basis::tasks: break;
    }
    return "tasks";
}

void write_named_place(json_writer& json, const trace& loaded, const finding_place& place) {
    json.key("label");
    if (place.label.empty())
        json.null();
    else
        json.string(place.label);
    write_place(json, loaded, place.site);
}

void write_moment(json_writer& json, const trace& loaded, const finding_evidence& moment) {
    json.begin_object(compact);
    json.member("text", moment.text);
    write_named_place(json, loaded, moment.place);
    const bool has_task = moment.task < loaded.tasks.size();
    json.key("task");
    if (has_task)
        json.integer(loaded.tasks[moment.task].id);
    else
        json.null();
    json.key("thread");
    if (moment.thread < loaded.threads.size())
        json.integer(loaded.threads[moment.thread].id);
    else
        json.null();
    json.key("await");
    if (moment.await < loaded.awaits.size())
        json.integer(moment.await);
    else
        json.null();
    json.key("request");
    if (moment.request != 0)
        json.integer(moment.request);
    else
        json.null();
    json.member("start_ns", moment.start_ns).member("ns", moment.length_ns);
    json.end();
}

void write_finding(json_writer& json, const trace& loaded, const finding& of) {
    json.begin_object();
    json.member("rule", of.rule->id).member("severity", name_of(of.severity));
    json.member("title", of.title);
    json.key("cause").begin_object(compact);
    write_named_place(json, loaded, of.cause);
    json.end();
    json.key("victims").begin_array();
    for (const finding_victim& each : of.victims) {
        json.begin_object(compact);
        write_named_place(json, loaded, each.place);
        json.member("count", each.count).member("ns", each.time_ns);
        json.end();
    }
    json.end();
    json.member("count", of.count).member("cost_ns", of.cost_ns).member("share", of.share);
    json.key("evidence").begin_array();
    for (const finding_evidence& each : of.evidence) write_moment(json, loaded, each);
    json.end();
    json.key("explanation").begin_array();
    for (const std::string& line : of.explanation) json.string(line);
    json.end();
    json.member("advice", of.rule->advice);
    json.end();
}

void write_message(json_writer& json, std::string_view name, std::string_view text) {
    json.key(name).begin_object(compact);
    json.member("text", text);
    json.end();
}

void write_sarif_rules(json_writer& json) {
    json.key("rules").begin_array();
    for (const finding_rule& each : finding_rules()) {
        json.begin_object();
        json.member("id", each.id);
        write_message(json, "shortDescription", each.title);
        write_message(json, "fullDescription", each.meaning);
        write_message(json, "help", each.advice);
        json.key("defaultConfiguration").begin_object(compact);
        json.member("level", name_of(each.severity));
        json.end();
        json.end();
    }
    json.end();
}

void write_sarif_place(json_writer& json, const trace& loaded, std::uint32_t site) {
    const site_info* const at = find_site(loaded, site);
    json.key("locations").begin_array();
    if (at != nullptr && !at->file.empty()) {
        json.begin_object();
        json.key("physicalLocation").begin_object();
        json.key("artifactLocation").begin_object(compact);
        json.member("uri", at->file);
        json.end();
        if (at->line != 0) {
            json.key("region").begin_object(compact);
            json.member("startLine", at->line);
            json.end();
        }
        json.end();
        json.end();
    }
    json.end();
}

}  // namespace

std::string findings_json(const trace& loaded, const findings& of) {
    json_writer json;
    json.begin_object();
    json.member("basis", name_of_basis(of.basis)).member("requests", of.requests);
    json.member("whole_requests", of.whole_requests);
    json.member("request_ns", of.request_ns)
        .member("machine_ns", of.machine_ns)
        .member("idle_ns", of.idle_ns);
    json.key("findings").begin_array();
    for (const finding& each : of.found) write_finding(json, loaded, each);
    json.end();
    json.key("not_run").begin_array();
    for (const rule_not_run& each : of.not_run) {
        json.begin_object(compact);
        json.member("rule", each.rule->id).member("needs", each.needs);
        json.end();
    }
    json.end();
    json.end();
    return std::move(json).take();
}

std::string findings_sarif(const trace& loaded, const findings& of, std::string_view trace_path) {
    json_writer json;
    json.begin_object();
    json.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json.member("version", "2.1.0");
    json.key("runs").begin_array().begin_object();
    json.key("tool").begin_object().key("driver").begin_object();
    json.member("name", "coroscope check");
    write_sarif_rules(json);
    json.end().end();
    if (!trace_path.empty()) {
        json.key("artifacts").begin_array().begin_object(compact);
        json.key("location").begin_object(compact);
        json.member("uri", trace_path);
        json.end().end().end();
    }
    json.key("results").begin_array();
    for (const finding& each : of.found) {
        json.begin_object();
        json.member("ruleId", each.rule->id).member("level", name_of(each.severity));
        write_message(json, "message", each.title + ". " + std::string(each.rule->advice));
        write_sarif_place(json, loaded, each.cause.site);
        json.key("properties").begin_object(compact);
        json.member("cost_ns", each.cost_ns).member("share", each.share);
        json.member("label", each.cause.label);
        json.end();
        json.end();
    }
    json.end();
    json.end().end();
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
