// SPDX-License-Identifier: Apache-2.0

// Debug information through elfutils' libdw, of files as they are on disk now.

#include "dwarf_files.hpp"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <unordered_map>

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

source_place dwarf_files::find(std::uint64_t address) const {
    source_place found;
    Dwfl_Module* module =
        state_->session == nullptr ? nullptr : dwfl_addrmodule(state_->session, address);
    if (module == nullptr) return found;
    const auto believed = state_->believed.find(module);
    if (believed == state_->believed.end() || !believed->second) return found;
    if (const char* name = dwfl_module_addrname(module, address)) found.function = demangled(name);
    if (Dwfl_Line* line = dwfl_module_getsrc(module, address)) {
        const char* file = dwfl_lineinfo(line, nullptr, &found.line, nullptr, nullptr, nullptr);
        if (file != nullptr) found.file = file;
    }
    return found;
}

}  // namespace coroscope::analysis
