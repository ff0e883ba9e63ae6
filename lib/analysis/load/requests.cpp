// SPDX-License-Identifier: Apache-2.0
#include "requests.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../model/requests.hpp"
#include "../text/warnings.hpp"
#include "devices/device_scopes.hpp"

namespace coroscope::analysis {
namespace {

using coroscope::trace::request_form;
using coroscope::trace::site_kind;

class request_finder {
public:
    request_finder(const task_records& records, const scope_texts& texts, metadata& names,
                   trace& loaded)
        : records_(records), texts_(texts), names_(names), loaded_(loaded) {}

    void run() {
        add_scopes();
        for (const request_fact& each : records_.requests.facts) take(each);
        number_requests(loaded_.requests);
        loaded_.health.left_out_requests = static_cast<std::uint64_t>(
            std::ranges::count(loaded_.requests, true, &request_info::left_out));
        std::ranges::stable_sort(loaded_.sampling.changed, {}, &interval_change::time_ns);
    }

private:
    void add_scopes() {
        std::vector<bool> is_request(loaded_.sites.size());
        bool any = false;
        for (std::size_t at = 0; at < is_request.size(); ++at) {
            is_request[at] =
                loaded_.sites[at].kind == static_cast<std::uint8_t>(site_kind::request);
            any = any || is_request[at];
        }
        if (!any) return;
        for (std::uint32_t at = 0; at < loaded_.events.size(); ++at)
            if (loaded_.events[at].site < is_request.size() && is_request[loaded_.events[at].site])
                add_event(at);
        scopes_ = loaded_.requests.size();
    }

    void add_event(std::uint32_t index) {
        loaded_.requests.push_back(request_of_scope(loaded_, index));
    }

    // Finds no event if the record of the scope or range was lost, or if that did not end.
    void take(const request_fact& fact) {
        request_info* const of =
            fact.form == request_form::task ? take_task(fact) : take_event(fact);
        if (of == nullptr) return;
        if (fact.deadline_ns != 0)
            of->deadline_ns = static_cast<std::int64_t>(
                std::min<std::uint64_t>(fact.deadline_ns, ~std::uint64_t{0} >> 1));
        of->left_out |= fact.left_out;
        if (fact.failed && of->end == request_end::completed) of->end = request_end::failed;
    }

    request_info* take_event(const request_fact& fact) {
        const std::uint32_t index = find_event(fact);
        if (index == none) return nullptr;
        const auto first = loaded_.requests.begin();
        const auto end = first + static_cast<std::ptrdiff_t>(scopes_);
        const auto scope = std::ranges::lower_bound(first, end, index, {}, &request_info::event);
        if (scope != end && scope->event == index) return &*scope;
        const auto [known, is_new] = of_ranges_.emplace(index, loaded_.requests.size());
        if (is_new) add_event(index);
        return &loaded_.requests[known->second];
    }

    [[nodiscard]] std::uint32_t find_event(const request_fact& fact) const {
        const bool is_range = fact.form == request_form::range;
        const std::uint32_t label = is_range ? label_of(fact) : none;
        auto at = std::ranges::lower_bound(loaded_.events, fact.start_ns, {}, &event::start_ns);
        for (; at != loaded_.events.end() && at->start_ns == fact.start_ns; ++at) {
            const bool same = is_range ? at->site == none && at->name == label &&
                                             (at->flags & event_explicit) != 0
                                       : at->site == fact.site && fact.site != none;
            if (same && at->thread == fact.thread)
                return static_cast<std::uint32_t>(at - loaded_.events.begin());
        }
        return none;
    }

    [[nodiscard]] std::uint32_t label_of(const request_fact& fact) const {
        const std::uint32_t label = texts_.find_label(fact.thread, fact.serial);
        return label == none ? none : records_.labels[label].text;
    }

    request_info* take_task(const request_fact& fact) {
        const std::uint32_t index = records_.find_task(fact.task_id);
        if (index >= loaded_.tasks.size()) return nullptr;
        const auto [known, is_new] = of_tasks_.emplace(index, loaded_.requests.size());
        if (!is_new) return &loaded_.requests[known->second];
        request_info& added = loaded_.requests.emplace_back(request_of_task(loaded_, index));
        added.name = fact.label != none  ? fact.label
                     : fact.site != none ? names_.site_name(fact.site)
                                         : names_.intern("unknown");
        added.site = fact.site;
        return &added;
    }

    const task_records& records_;
    const scope_texts& texts_;
    metadata& names_;
    trace& loaded_;
    std::size_t scopes_ = 0;  // the first requests are scopes, in the order of the events
    std::unordered_map<std::uint32_t, std::size_t> of_ranges_;  // places in trace::requests
    std::unordered_map<std::uint32_t, std::size_t> of_tasks_;
};

void link_values(const task_records& records, trace& loaded) {
    std::vector<std::uint32_t> order(loaded.values.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, {}, [&loaded](std::uint32_t at) {
        return std::tuple(loaded.values[at].time_ns, loaded.values[at].thread);
    });
    if (order.empty()) return;
    open_scopes scopes(loaded);
    std::vector<value_info> sorted;
    sorted.reserve(order.size());
    for (const std::uint32_t at : order) {
        value_info& value = sorted.emplace_back(loaded.values[at]);
        const value_links& links = records.requests.values[at];
        value.task = records.find_task(links.task_id);
        value.scope =
            scopes.around_record(value.thread, value.task, value.time_ns, links.ended_scopes);
    }
    loaded.values = std::move(sorted);
}

}  // namespace

void loading::link_requests(const task_records& records, const scope_texts& texts, metadata& names,
                            trace& loaded) {
    request_finder(records, texts, names, loaded).run();
    link_values(records, loaded);
    warn(loaded.health.warnings, "malformed facts about requests, left out",
         records.requests.malformed_requests);
    warn(loaded.health.warnings, "malformed values, left out", records.requests.malformed_values);
}

}  // namespace coroscope::analysis
