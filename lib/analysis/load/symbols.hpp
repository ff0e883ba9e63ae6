// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the metadata chunks name: sites, threads, devices and strings, by dense numbers that are indices into
// the model. A record may name what the trace does not hold (lost or damaged metadata); such a thing
// gets a placeholder and is counted; a thread only where it has records.

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

namespace coroscope::analysis::loading {

class symbols {
public:
    /// Reads the metadata chunks of `input` into `loaded`. Both must outlive this.
    symbols(const coroscope::trace::reader& input, trace& loaded);

    /// Index into trace::sites.
    std::uint32_t site(std::uint32_t id) {
        const std::uint32_t known = sites_.find(id);
        return known != none ? known : unknown_site(id);
    }
    /// The same, where id 0 may mean that there is none.
    std::uint32_t optional_site(std::uint32_t id) {
        const std::uint32_t known = sites_.find(id);
        return known != none || id == 0 ? known : unknown_site(id);
    }
    /// Index into trace::strings: what events of that site are called.
    [[nodiscard]] std::uint32_t site_name(std::uint32_t site) const { return site_names_[site]; }

    /// Index into trace::threads.
    std::uint32_t thread(std::uint32_t id);

    /// The same; `none` where neither a description nor a record of that thread has been met.
    [[nodiscard]] std::uint32_t known_thread(std::uint32_t id) const { return threads_.find(id); }
    /// A thread is described as it writes its first record. Others may name one that never did.
    [[nodiscard]] bool describes_thread(std::uint32_t thread) const { return described_[thread]; }

    /// When the thread joined, in ticks; 0 where that is unknown. By index into trace::threads.
    [[nodiscard]] const std::vector<std::uint64_t>& joined_ticks() const { return joined_ticks_; }

    /// Index into trace::devices.
    std::uint32_t device(std::uint32_t id);

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
    void read_site(const coroscope::trace::record_view& record);
    [[nodiscard]] std::string text(std::uint32_t id) const;
    std::uint32_t add_site(std::uint32_t id, site_info site);
    std::uint32_t unknown_site(std::uint32_t id);

    trace& loaded_;
    flat_index sites_;
    flat_index threads_;
    flat_index devices_;
    flat_index string_ids_;
    std::vector<std::string_view> texts_;  // into the input
    std::vector<std::uint32_t> site_names_;
    std::vector<std::uint64_t> waited_ticks_;
    std::vector<std::uint64_t> joined_ticks_;
    std::vector<bool> described_;  // by index into trace::threads
    std::vector<coroscope::trace::clock_point> clock_points_;
    std::unordered_map<std::string, std::uint32_t> interned_;
    using source_place =
        std::tuple<std::string, std::string, std::uint32_t, std::string, std::uint8_t>;
    // label, file, line, category, kind: the site's number
    std::map<source_place, std::uint32_t> places_;
    std::uint32_t unknown_sites_ = 0;
    std::uint32_t unknown_devices_ = 0;
};

}  // namespace coroscope::analysis::loading
