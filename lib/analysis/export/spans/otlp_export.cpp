// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/span_exports.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <coroscope/analysis/request_statistics.hpp>

#include "../../view/listing/request_cells.hpp"
#include "../../words/places.hpp"
#include "../../words/request_words.hpp"
#include "otlp_tree.hpp"
#include "otlp_writer.hpp"

namespace coroscope::analysis {
namespace {

class otlp_exporter {
public:
    /// Returns false if a message could not be passed on, which ends the export.
    using pass_on = std::function<bool(const std::string& resource_spans)>;

    otlp_exporter(const trace& from, otlp_writer& to, pass_on pass)
        : from_(from),
          list_(requests_of(from)),
          tree_(from, list_),
          to_(to),
          pass_(std::move(pass)) {}

    written write() {
        const auto times = times_of_requests(from_, list_.requests);
        for (std::uint32_t at = 0; at < list_.requests.size() && good_; ++at)
            add(span_of_request(at, times[at]));
        for (std::uint32_t task = 0; task < from_.tasks.size() && good_; ++task)
            if (!is_named_only(from_.tasks[task])) add(span_of_task(task));
        if (pending_ != 0) flush();
        if (!good_) return failure{"the spans could not be written"};
        return spans_;
    }

private:
    static constexpr std::uint32_t spans_per_message = 512;

    void add(const otlp_span& span) {
        to_.add(span);
        ++spans_;
        if (++pending_ >= spans_per_message) flush();
    }

    void flush() {
        good_ = good_ && pass_(to_.take());
        pending_ = 0;
    }

    [[nodiscard]] std::uint64_t unix_ns(std::int64_t time_ns) const {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(from_.start_realtime_ns, 0)) +
               static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0));
    }

    void set_times(otlp_span& span, std::int64_t start_ns, std::int64_t end_ns) const {
        span.start_unix_ns = unix_ns(start_ns);
        span.end_unix_ns = unix_ns(std::max(start_ns, end_ns));
    }

    void add_place(otlp_span& span, std::uint32_t site) const {
        const site_info* const found = find_site(from_, site);
        if (found == nullptr) return;
        if (!found->function.empty())
            span.attributes.emplace_back("code.function.name", found->function);
        if (found->file.empty()) return;
        span.attributes.emplace_back("code.file.path", found->file);
        span.attributes.emplace_back("code.line.number", std::int64_t{found->line});
    }

    static void add_split(otlp_span& span, const time_split& time) {
        span.attributes.emplace_back("coroscope.running_ns", time.running_ns);
        span.attributes.emplace_back("coroscope.suspended_ns", time.suspended_ns);
        span.attributes.emplace_back("coroscope.queued_ns", time.queued_ns);
        span.attributes.emplace_back("coroscope.waiting_ns", time.waiting_ns);
    }

    /// Adds the attributes that the program gave to the work, the innermost value of each key.
    void add_carried(otlp_span& span, std::uint32_t attribute) const {
        std::set<std::uint32_t> keys;
        for (std::size_t step = 0;
             attribute < from_.attributes.size() && step < from_.attributes.size(); ++step) {
            const attribute_info& each = from_.attributes[attribute];
            attribute = each.parent;
            if (each.unknown) return;
            if (each.key < from_.strings.size() && each.value < from_.strings.size() &&
                keys.insert(each.key).second)
                span.attributes.emplace_back(from_.strings[each.key], from_.strings[each.value]);
        }
    }

    void add_link(otlp_span& span, std::uint32_t task, std::string_view kind) const {
        if (task < from_.tasks.size()) span.links.push_back({tree_.of_task(task), kind});
    }

    otlp_span span_of_request(std::uint32_t at, const request_time& time) const {
        const request_info& request = list_.requests[at];
        otlp_span span;
        span.own = tree_.of_request(at);
        span.parent = tree_.above_request(at);
        span.kind = otlp_kind::server;
        span.name = request_name(from_, request);
        set_times(span, request.start_ns, request.end_ns);
        span.attributes.emplace_back("coroscope.request", static_cast<std::int64_t>(request.id));
        span.attributes.emplace_back("coroscope.outcome", std::string(end_text(request)));
        if (time.known) add_split(span, time.time);
        if (request.deadline_ns) {
            span.attributes.emplace_back("coroscope.deadline_ns", *request.deadline_ns);
            span.attributes.emplace_back("coroscope.late", request.is_late());
        }
        if (request.left_out) span.attributes.emplace_back("coroscope.left_out", true);
        add_place(span, request.site);
        const bool is_scope = request.event < from_.events.size();
        const bool is_task = !is_scope && request.task < from_.tasks.size();
        add_carried(span, is_scope  ? from_.events[request.event].attribute
                          : is_task ? from_.tasks[request.task].attribute
                                    : none);
        add_link(span, request.task, "task");
        if (request.end == request_end::failed || request.end == request_end::abandoned)
            span.error = end_text(request);
        return span;
    }

    otlp_span span_of_task(std::uint32_t index) const {
        const task_info& task = from_.tasks[index];
        const std::int64_t start_ns = task.spawn_ns.value_or(task.first_wake_ns.value_or(0));
        otlp_span span;
        span.own = tree_.of_task(index);
        span.parent = tree_.above_task(index);
        span.name = site_name(from_, task.spawn_site);
        set_times(span, start_ns, task.end_ns.value_or(from_.duration_ns));
        span.attributes.emplace_back("coroscope.task", static_cast<std::int64_t>(task.id));
        span.attributes.emplace_back("coroscope.state", std::string(state_of(task)));
        add_split(span, task.time);
        add_place(span, task.spawn_site);
        add_carried(span, task.attribute);
        add_link(span, task.parent, "spawn");
        add_wakes(span, task);
        if (task.state == task_state::failed) span.error = "failed";
        return span;
    }

    /// Adds a link for each task that woke this one, in the order of the first wakes.
    void add_wakes(otlp_span& span, const task_info& task) const {
        const std::size_t first = span.links.size();
        for (const std::uint32_t await : task.awaits) {
            const std::uint32_t waker = from_.awaits[await].waker;
            if (waker >= from_.tasks.size()) continue;
            const otlp_context to = tree_.of_task(waker);
            const auto known = std::find_if(
                span.links.begin() + static_cast<std::ptrdiff_t>(first), span.links.end(),
                [&](const otlp_link& each) { return each.to.span == to.span; });
            if (known != span.links.end())
                ++known->count;
            else if (span.links.size() < most_otlp_links)
                span.links.push_back({to, "wake"});
            else
                ++span.dropped_links;
        }
    }

    const trace& from_;
    request_list list_;
    otlp_tree tree_;
    otlp_writer& to_;
    pass_on pass_;
    std::uint32_t pending_ = 0;
    std::uint64_t spans_ = 0;
    bool good_ = true;
};

std::unique_ptr<otlp_writer> otlp_writer_of(const trace& from, otlp_form form) {
    if (form == otlp_form::json) return std::make_unique<otlp_json_writer>(from);
    return std::make_unique<otlp_protobuf_writer>(from);
}

}  // namespace

written export_otlp(const trace& from, otlp_form form, const byte_sink& sink) {
    const auto to = otlp_writer_of(from, form);
    const otlp_writer::frame around = to->around();
    bool is_first = true;
    const auto pass = [&](std::string_view part) { return part.empty() || sink(part); };
    if (!pass(around.before)) return failure{"the spans could not be written"};
    written done = otlp_exporter(from, *to, [&](const std::string& spans) {
                       const bool good = (is_first || pass(around.between)) && pass(spans);
                       is_first = false;
                       return good;
                   }).write();
    if (done && !pass(around.after)) return failure{"the spans could not be written"};
    return done;
}

written export_otlp_requests(const trace& from, otlp_form form, const byte_sink& sink) {
    const auto to = otlp_writer_of(from, form);
    const otlp_writer::frame around = to->around();
    return otlp_exporter(from, *to,
                         [&](const std::string& spans) {
                             return sink(
                                 std::string(around.before).append(spans).append(around.after));
                         })
        .write();
}

}  // namespace coroscope::analysis
