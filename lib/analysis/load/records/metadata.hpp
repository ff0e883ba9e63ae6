// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the metadata chunks: sites, threads, devices and strings, with dense numbers that are
// indices into the model. A record may name an entry that the trace does not hold (lost or damaged
// metadata). Such an entry gets a placeholder and is counted; a thread only if it has records.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "flat_index.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

class metadata {
public:
    /// Reads the metadata chunks of `input` into `loaded`. Both must outlive this.
    metadata(const coroscope::trace::reader& input, trace& loaded);

    /// Index into trace::sites.
    std::uint32_t site(std::uint32_t id) {
        const std::uint32_t known = sites_.find(id);
        return known != none ? known : unknown_site(id);
    }
    /// The same; `none` if the trace does not describe the site and site() was not called for it.
    [[nodiscard]] std::uint32_t known_site(std::uint32_t id) const { return sites_.find(id); }

    /// As site(), but id 0 means none.
    std::uint32_t optional_site(std::uint32_t id) {
        const std::uint32_t known = sites_.find(id);
        return known != none || id == 0 ? known : unknown_site(id);
    }
    /// Index into trace::spawn_places: the place of spawns with that site; `none` if unknown.
    [[nodiscard]] std::uint32_t spawn_place(std::uint32_t id) const {
        const auto found = spawn_places_.find(id);
        return found == spawn_places_.end() ? none : found->second;
    }
    /// Index into trace::strings: the name of events of that site.
    [[nodiscard]] std::uint32_t site_name(std::uint32_t site) const { return site_names_[site]; }

    /// Index into trace::threads.
    std::uint32_t thread(std::uint32_t id);

    /// The same; `none` if neither a description nor a record of that thread was read.
    [[nodiscard]] std::uint32_t known_thread(std::uint32_t id) const { return threads_.find(id); }
    /// Returns whether the trace describes the thread. A thread is described when it writes its
    /// first record; other threads' records may name a thread that wrote none.
    [[nodiscard]] bool describes_thread(std::uint32_t thread) const { return described_[thread]; }

    /// The time at which the thread joined, in ticks; 0 if unknown. By index into trace::threads.
    [[nodiscard]] const std::vector<std::uint64_t>& joined_ticks() const { return joined_ticks_; }

    /// The time at which the thread left, in ticks; 0 if it had not. By index into trace::threads.
    [[nodiscard]] const std::vector<std::uint64_t>& left_ticks() const { return left_ticks_; }

    /// Index into trace::devices.
    std::uint32_t device(std::uint32_t id);

    /// Index into trace::executors; `none` for number 0. An executor that the trace does not
    /// describe is added.
    std::uint32_t executor(std::uint32_t number);
    /// Index into trace::objects.
    std::uint32_t object(std::uint32_t number);

    /// Index into trace::strings; equal texts share one.
    std::uint32_t intern(std::string_view text);

    /// The clock records, in the order they were written.
    [[nodiscard]] const std::vector<coroscope::trace::clock_point>& clock_points() const {
        return clock_points_;
    }

    /// Ticks that each thread waited for chunks; by index into trace::threads.
    [[nodiscard]] const std::vector<std::uint64_t>& waited_ticks() const { return waited_ticks_; }

    [[nodiscard]] std::uint32_t unknown_sites() const { return unknown_sites_; }
    [[nodiscard]] std::uint32_t unknown_devices() const { return unknown_devices_; }

private:
    void read_string(const coroscope::trace::record_view& record);
    void read_thread(const coroscope::trace::record_view& record);
    void read_device(const coroscope::trace::record_view& record);
    void read_executor(const coroscope::trace::record_view& record);
    void link_executors();
    void read_site(const coroscope::trace::record_view& record);
    void read_object(const coroscope::trace::record_view& record);
    void read_spawn_place(const coroscope::trace::record_view& record);
    void read_spawn_calls(const coroscope::trace::record_view& record);
    /// Adds a place of spawns with the site of that id. Returns null if the site has one already.
    analysis::spawn_place* add_spawn_place(std::uint32_t site);
    [[nodiscard]] std::string text(std::uint32_t id) const;
    std::uint32_t add_site(std::uint32_t id, site_info site);
    std::uint32_t unknown_site(std::uint32_t id);
    void name_sites();

    trace& loaded_;
    flat_index sites_;
    flat_index threads_;
    flat_index devices_;
    flat_index executors_;
    std::vector<std::uint32_t> inner_numbers_;  // by index into trace::executors
    flat_index objects_;
    flat_index string_ids_;
    std::vector<std::string_view> texts_;  // into the input
    std::vector<std::uint32_t> site_names_;
    std::vector<std::uint64_t> waited_ticks_;
    std::vector<std::uint64_t> joined_ticks_;
    std::vector<std::uint64_t> left_ticks_;
    std::vector<bool> described_;  // by index into trace::threads
    std::vector<coroscope::trace::clock_point> clock_points_;
    std::unordered_map<std::string, std::uint32_t> interned_;
    using source_place = std::tuple<std::string, std::string, std::uint32_t, std::uint16_t,
                                    std::string, std::uint8_t>;
    // label, file, line, column of a function, category, kind: the site's number
    std::map<source_place, std::uint32_t> places_;
    std::unordered_map<std::uint32_t, std::uint32_t> spawn_places_;  // by id of a site
    std::uint32_t unknown_sites_ = 0;
    std::uint32_t unknown_devices_ = 0;
};

}  // namespace coroscope::analysis::inline records
