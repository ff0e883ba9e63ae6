// SPDX-License-Identifier: Apache-2.0

// Debug information through elfutils' libdw, of files as they are on disk now.

#include "dwarf_files.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace coroscope::analysis {
namespace {

// A trace may name any path, such as a device or a pipe, so only a regular file is opened.
bool is_regular(const std::string& path) {
    struct stat status{};
    return !path.empty() && path.front() == '/' && ::stat(path.c_str(), &status) == 0 &&
           S_ISREG(status.st_mode);
}

std::string build_id_of(Dwfl_Module* module) {
    const unsigned char* bits = nullptr;
    GElf_Addr address = 0;
    const int size = dwfl_module_build_id(module, &bits, &address);
    std::string text;
    for (int at = 0; at < size; ++at) {
        text += "0123456789abcdef"[bits[at] >> 4];
        text += "0123456789abcdef"[bits[at] & 15];
    }
    return text;
}

std::string demangled(const char* name) {
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string found = status == 0 && text != nullptr ? text : name;
    std::free(text);
    return found;
}

/// Returns the part of a mangled name that begins with the outermost namespace or class; empty if
/// the function is in none, or the name is not mangled.
std::string_view scoped_part(std::string_view mangled) {
    if (!mangled.starts_with("_Z")) return {};
    mangled.remove_prefix(2);
    while (mangled.starts_with('Z')) mangled.remove_prefix(1);  // local to a function
    if (mangled.starts_with("St")) return mangled;
    if (!mangled.starts_with('N')) return {};
    // Behind the qualifiers: const, volatile, & and &&.
    mangled.remove_prefix(std::min(mangled.find_first_not_of("rVKRO", 1), mangled.size()));
    return mangled;
}

code_owner owner_of(std::string_view mangled) {
    if (!mangled.starts_with("_Z")) return code_owner::unknown;
    return scoped_part(mangled).starts_with("9coroscope") ? code_owner::coroscope
                                                          : code_owner::user;
}

bool is_in_library(std::string_view mangled) {
    std::string_view scoped = scoped_part(mangled);
    for (const std::string_view each : {"5boost4asio", "4asio", "St", "Sa", "Ss", "9__gnu_cxx"})
        if (scoped.starts_with(each)) return true;
    // Asio's customisation points are in namespaces of their own, such as asio_prefer_fn.
    scoped.remove_prefix(std::min(scoped.find_first_not_of("0123456789"), scoped.size()));
    return scoped.starts_with("boost_asio_") || scoped.starts_with("asio_");
}

void set_name(source_place& place, const char* name) {
    place.owner = owner_of(name);
    place.in_library = is_in_library(name);
    place.function = demangled(name);
}

/// Returns the number in an attribute, or -1 if the entry has no such attribute.
int number_of(Dwarf_Die* die, unsigned attribute) {
    Dwarf_Attribute found;
    Dwarf_Word value = 0;
    if (dwarf_attr(die, attribute, &found) == nullptr || dwarf_formudata(&found, &value) != 0)
        return -1;
    return static_cast<int>(value);
}

/// Returns the place that two attributes give: the number of a file, and a line. DWARF 5 numbers
/// files from 0, which libdw's dwarf_decl_file() treats as no file.
code_line line_of(Dwarf_Die* die, unsigned file_attribute, unsigned line_attribute) {
    code_line place;
    Dwarf_Die unit;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    const int file = number_of(die, file_attribute);
    if (file < 0 || dwarf_diecu(die, &unit, nullptr, nullptr) == nullptr ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || static_cast<std::size_t>(file) >= count)
        return place;
    if (const char* name = dwarf_filesrc(files, static_cast<std::size_t>(file), nullptr, nullptr))
        place.file = name;
    place.line = std::max(number_of(die, line_attribute), 0);
    return place;
}

/// Returns the entry that contains this one; if there is none, this one.
Dwarf_Die parent_of(Dwarf_Die entry) {
    Dwarf_Die* scopes = nullptr;
    if (dwarf_getscopes_die(&entry, &scopes) > 1) entry = scopes[1];
    std::free(scopes);
    return entry;
}

/// Returns the place of the declaration of a function, or of the function of an inlined call.
code_line declaration_of(Dwarf_Die* call) {
    Dwarf_Die written = *call;
    Dwarf_Attribute origin;
    if (dwarf_attr(call, DW_AT_abstract_origin, &origin) != nullptr)
        dwarf_formref_die(&origin, &written);
    // The definition of a member function has no line if it is also the declaration, as for the
    // operator of a lambda. The declaration has the line.
    if (dwarf_hasattr(&written, DW_AT_decl_line) == 0 &&
        dwarf_attr(&written, DW_AT_specification, &origin) != nullptr)
        dwarf_formref_die(&origin, &written);
    // g++ gives the line to the type of a lambda, and none to its operator.
    if (dwarf_hasattr(&written, DW_AT_decl_line) == 0) written = parent_of(written);
    return line_of(&written, DW_AT_decl_file, DW_AT_decl_line);
}

void set_function(source_place& place, Dwarf_Die* call) {
    place.declared = declaration_of(call);
    for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
        Dwarf_Attribute found;
        if (dwarf_attr_integrate(call, attribute, &found) == nullptr) continue;
        if (const char* name = dwarf_formstring(&found)) return set_name(place, name);
    }
    if (const char* plain = dwarf_diename(call)) place.function = plain;
}

constexpr int deepest = 256;  // compilers do not nest blocks this deep

/// Finds the calls that contain an address: the function, then the calls inlined in it, from the
/// outermost to the innermost. Searches the children of `within`. libdw's own search misses
/// functions that clang describes inside their namespaces.
bool find_calls(Dwarf_Die* within, Dwarf_Addr address, std::vector<Dwarf_Die>& calls,
                int depth = 0) {
    Dwarf_Die part;
    if (depth == deepest || dwarf_child(within, &part) != 0) return false;
    do {
        const int kind = dwarf_tag(&part);
        if (kind == DW_TAG_namespace) {
            if (find_calls(&part, address, calls, depth + 1)) return true;
            continue;
        }
        const bool is_call = kind == DW_TAG_subprogram || kind == DW_TAG_inlined_subroutine;
        if ((!is_call && kind != DW_TAG_lexical_block) || dwarf_haspc(&part, address) <= 0)
            continue;
        if (is_call) calls.push_back(part);
        find_calls(&part, address, calls, depth + 1);
        return true;
    } while (dwarf_siblingof(&part, &part) == 0);
    return false;
}

/// As find_calls(), also of functions that are described inside others, as g++ describes lambdas
/// without optimisation. Looks at every entry of the unit.
bool find_nested_calls(Dwarf_Die* within, Dwarf_Addr address, std::vector<Dwarf_Die>& calls,
                       int depth = 0) {
    if (depth == deepest || find_calls(within, address, calls)) return !calls.empty();
    Dwarf_Die part;
    if (dwarf_child(within, &part) != 0) return false;
    do {
        if (dwarf_haschildren(&part) > 0 && find_nested_calls(&part, address, calls, depth + 1))
            return true;
    } while (dwarf_siblingof(&part, &part) == 0);
    return false;
}

/// Returns the source line of an address. `address` must be relative to the unit, as in its debug
/// information.
code_line line_at(Dwarf_Die* unit, Dwarf_Addr address) {
    code_line place;
    Dwarf_Line* line = dwarf_getsrc_die(unit, address);
    if (line == nullptr || dwarf_lineno(line, &place.line) != 0) return place;
    if (const char* file = dwarf_linesrc(line, nullptr, nullptr)) place.file = file;
    return place;
}

/// Returns the line of a call's first instruction, for code whose debug information has lines only
/// (-g1).
code_line first_line(Dwarf_Die* unit, Dwarf_Die* call) {
    Dwarf_Addr entry = 0;
    return dwarf_entrypc(call, &entry) == 0 ? line_at(unit, entry) : code_line();
}

/// Adds the calls that the address lies in to `places`, innermost first; the last is the
/// function's.
void add_calls(std::vector<source_place>& places, Dwarf_Die* unit, Dwarf_Addr address) {
    std::vector<Dwarf_Die> calls;
    if (!find_calls(unit, address, calls)) find_nested_calls(unit, address, calls);
    code_line here = line_at(unit, address);
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
        source_place& place = places.emplace_back();
        set_function(place, &*call);
        if (place.declared.file.empty()) place.declared = first_line(unit, &*call);
        place.at = std::move(here);
        if (dwarf_tag(&*call) != DW_TAG_inlined_subroutine) return;
        here = line_of(&*call, DW_AT_call_file, DW_AT_call_line);
    }
    places.emplace_back().at = std::move(here);
}

/// A range of addresses in the process, and the unit whose code is there.
struct unit_range {
    Dwarf_Addr low, high;
    Dwarf_Die* unit;
};

/// Returns the ranges of a module's units, sorted by address. They are read from the units, because
/// libdwfl uses only the table .debug_aranges, which clang does not write.
std::vector<unit_range> ranges_of(Dwfl_Module* module) {
    std::vector<unit_range> ranges;
    Dwarf_Addr bias = 0;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr;) {
        Dwarf_Addr base = 0, low = 0, high = 0;
        for (std::ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &low, &high)) > 0;)
            if (low < high) ranges.push_back({low + bias, high + bias, unit});
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const unit_range& one, const unit_range& other) { return one.low < other.low; });
    return ranges;
}

Dwarf_Addr bias_of(Dwfl_Module* module) {
    Dwarf_Addr bias = 0;
    dwfl_module_getdwarf(module, &bias);
    return bias;
}

Dwarf_Die* unit_at(const std::vector<unit_range>& ranges, Dwarf_Addr address) {
    const auto after = std::upper_bound(
        ranges.begin(), ranges.end(), address,
        [](Dwarf_Addr wanted, const unit_range& each) { return wanted < each.low; });
    if (after == ranges.begin()) return nullptr;
    const unit_range& found = *(after - 1);
    return address < found.high ? found.unit : nullptr;
}

// libdw searches neither the network nor any folder but the usual one for debug information.
constexpr Dwfl_Callbacks offline{dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                 dwfl_offline_section_address, nullptr};

}  // namespace

struct dwarf_files::state {
    Dwfl* session = dwfl_begin(&offline);
    std::unordered_map<Dwfl_Module*, bool> believed;  // whether the build id is the trace's
    std::unordered_map<Dwfl_Module*, std::vector<unit_range>>
        ranges;  // only of modules that were needed
    ~state() {
        if (session != nullptr) dwfl_end(session);
    }
};

dwarf_files::dwarf_files(const trace& loaded) : state_(std::make_unique<state>()) {
    if (state_->session == nullptr) return;
    dwfl_report_begin(state_->session);
    for (const code_module& each : loaded.modules) {
        if (!is_regular(each.path)) continue;
        const int own_descriptor = -1;
        dwfl_report_elf(state_->session, each.path.c_str(), each.path.c_str(), own_descriptor,
                        each.load_address, true);
    }
    dwfl_report_end(state_->session, nullptr, nullptr);
    // A file that was changed since would give wrong names.
    for (const code_module& each : loaded.modules) {
        Dwfl_Module* module = dwfl_addrmodule(state_->session, each.load_address + each.bytes / 2);
        if (module == nullptr) continue;
        state_->believed[module] = build_id_of(module) == each.build_id;
    }
}

dwarf_files::~dwarf_files() = default;

std::vector<source_place> dwarf_files::find(std::uint64_t address) const {
    std::vector<source_place> places;
    Dwfl_Module* module =
        state_->session == nullptr ? nullptr : dwfl_addrmodule(state_->session, address);
    const auto believed = state_->believed.find(module);
    if (module == nullptr || believed == state_->believed.end() || !believed->second) return {{}};
    const auto [known, is_new] = state_->ranges.try_emplace(module);
    if (is_new) known->second = ranges_of(module);
    if (Dwarf_Die* unit = unit_at(known->second, address))
        add_calls(places, unit, address - bias_of(module));
    if (places.empty()) places.emplace_back();
    if (const char* name = dwfl_module_addrname(module, address)) set_name(places.back(), name);
    return places;
}

}  // namespace coroscope::analysis
