// SPDX-License-Identifier: Apache-2.0

// The loaded files with code, and their addresses.

#include "modules.hpp"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "../base/elf_notes.hpp"

namespace coroscope::runtime::inline sessions {
namespace {

constexpr std::size_t longest_path = 2048;
constexpr std::size_t longest_build_id = 64;

struct module_writer {
    chunk_store& store;
    std::uint32_t number = 0;
};

struct loaded_module {
    trace::module_body body{};
    char build_id[longest_build_id];
};

void keep_build_id(const char* id, std::size_t size, loaded_module& found) noexcept {
    if (size > longest_build_id) return;
    found.body.build_id_bytes = static_cast<std::uint8_t>(size);
    std::memcpy(found.build_id, id, size);
}

loaded_module look_at(const dl_phdr_info& info) noexcept {
    loaded_module found;
    for (int at = 0; at < info.dlpi_phnum; ++at) {
        const ElfW(Phdr)& segment = info.dlpi_phdr[at];
        if (segment.p_type == PT_LOAD)
            found.body.bytes =
                std::max<std::uint64_t>(found.body.bytes, segment.p_vaddr + segment.p_memsz);
    }
    each_note(info, "GNU", NT_GNU_BUILD_ID,
              [&found](const char* id, std::size_t size) { keep_build_id(id, size, found); });
    return found;
}

// Returns the size of a module's path. The program itself, which comes first, has no name in the
// list.
std::size_t path_of(const dl_phdr_info& info, bool is_program, char* path) noexcept {
    if (is_program) {
        const ssize_t size = ::readlink("/proc/self/exe", path, longest_path);
        return size < 0 ? 0 : static_cast<std::size_t>(size);
    }
    const std::size_t size = std::min(std::strlen(info.dlpi_name), longest_path);
    std::memcpy(path, info.dlpi_name, size);
    return size;
}

int write_module(dl_phdr_info* info, std::size_t, void* data) noexcept {
    auto& to = *static_cast<module_writer*>(data);
    const bool is_program = to.number++ == 0;
    const loaded_module found = look_at(*info);
    char payload[sizeof found.body + longest_build_id + longest_path];
    std::size_t size = sizeof found.body;
    std::memcpy(payload, &found.body, sizeof found.body);
    std::memcpy(payload + size, found.build_id, found.body.build_id_bytes);
    size += found.body.build_id_bytes;
    size += path_of(*info, is_program, payload + size);
    to.store.append_metadata(info->dlpi_addr,
                             trace::make_tag(trace::record_kind::module, to.number, size), payload,
                             size);
    return 0;
}

}  // namespace

void describe_modules(chunk_store& store) noexcept {
    module_writer to{store};
    ::dl_iterate_phdr(write_module, &to);
}

}  // namespace coroscope::runtime::inline sessions
