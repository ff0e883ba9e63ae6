// SPDX-License-Identifier: Apache-2.0

// Debug information through elfutils' libdw, of files as they are on disk now.

#include "dwarf_files.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <unordered_map>
#include <utility>

namespace coroscope::analysis {
namespace {

// The trace may name anything: only a regular file is opened.
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

struct free_scopes {
    void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};
using scope_array = std::unique_ptr<Dwarf_Die, free_scopes>;

std::string name_of(Dwarf_Die* call) {
    for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
        Dwarf_Attribute found;
        if (dwarf_attr_integrate(call, attribute, &found) == nullptr) continue;
        if (const char* name = dwarf_formstring(&found)) return demangled(name);
    }
    const char* plain = dwarf_diename(call);
    return plain == nullptr ? std::string() : plain;
}

int number_of(Dwarf_Die* die, unsigned attribute) {
    Dwarf_Attribute found;
    Dwarf_Word value = 0;
    if (dwarf_attr(die, attribute, &found) == nullptr || dwarf_formudata(&found, &value) != 0)
        return 0;
    return static_cast<int>(value);
}

/// Where a call that was inlined stands.
source_place place_of_call(Dwarf_Die* unit, Dwarf_Die* call) {
    source_place place;
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    const auto file = static_cast<std::size_t>(number_of(call, DW_AT_call_file));
    if (dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count) return place;
    if (const char* name = dwarf_filesrc(files, file, nullptr, nullptr)) place.file = name;
    place.line = number_of(call, DW_AT_call_line);
    return place;
}

/// The scopes that an address of a unit lies in, innermost first, and outwards as they are nested in the code:
/// by its first scope alone, because those of an inlined call go on where it was written.
std::pair<scope_array, int> scopes_of(Dwarf_Die* unit, Dwarf_Addr address) {
    Dwarf_Die* innermost = nullptr;
    if (dwarf_getscopes(unit, address, &innermost) <= 0) return {};
    const scope_array owner(innermost);
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(innermost, &scopes);
    return {scope_array(scopes), count};
}

/// Adds the calls that were inlined at `here`, the place of the address; gives the place in the function itself.
source_place add_inlined(std::vector<source_place>& calls, source_place here, Dwarf_Die* unit,
                         Dwarf_Addr address) {
    const auto [scopes, count] = scopes_of(unit, address);
    for (int at = 0; at < count; ++at) {
        Dwarf_Die* scope = scopes.get() + at;
        if (dwarf_tag(scope) == DW_TAG_subprogram) break;
        if (dwarf_tag(scope) != DW_TAG_inlined_subroutine) continue;
        here.function = name_of(scope);
        calls.push_back(std::move(here));
        here = place_of_call(unit, scope);
    }
    return here;
}

// No search on the network or in other folders than the usual one.
constexpr Dwfl_Callbacks offline{dwfl_build_id_find_elf, dwfl_standard_find_debuginfo,
                                 dwfl_offline_section_address, nullptr};

}  // namespace

struct dwarf_files::state {
    Dwfl* session = dwfl_begin(&offline);
    std::unordered_map<Dwfl_Module*, bool> believed;  // by build id
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
    std::vector<source_place> calls;
    source_place here;
    Dwfl_Module* module =
        state_->session == nullptr ? nullptr : dwfl_addrmodule(state_->session, address);
    const auto believed = state_->believed.find(module);
    if (module == nullptr || believed == state_->believed.end() || !believed->second) return {here};
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
    // Between two stretches of a unit there may be code that is none of it.
    if (unit != nullptr && dwarf_haspc(unit, address - bias) <= 0) unit = nullptr;
    if (Dwfl_Line* line = unit == nullptr ? nullptr : dwfl_module_getsrc(module, address)) {
        const char* file = dwfl_lineinfo(line, nullptr, &here.line, nullptr, nullptr, nullptr);
        if (file != nullptr) here.file = file;
    }
    if (unit != nullptr) here = add_inlined(calls, std::move(here), unit, address - bias);
    const char* name = dwfl_module_addrname(module, address);
    here.function = name == nullptr ? std::string() : demangled(name);
    calls.push_back(std::move(here));
    return calls;
}

}  // namespace coroscope::analysis
