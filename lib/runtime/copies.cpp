// SPDX-License-Identifier: Apache-2.0
#include "copies.hpp"

#include <cstdint>
#include <mutex>

#include "elf_notes.hpp"
#include "fault_record.hpp"
#include "session.hpp"
#include "text_writer.hpp"

// Each copy carries a note, by which the others find it: symbols would be hidden from them.
asm(".pushsection .note.coroscope, \"a\", %note\n"
    ".balign 4\n"
    ".long 10, 4, 1\n"  // size of the name, of the description, type
    ".asciz \"Coroscope\"\n"
    ".balign 4\n"
    ".long 1\n"  // the note's version
    ".popsection\n");

namespace coroscope::runtime {
namespace {

constexpr const char* note_name = "Coroscope";
constexpr std::uint32_t note_type = 1;

constinit fault_record several{"coroscope: several copies of this library are in the process, and "
                               "none sees what the others record; "
                               "link one shared library into all: "};

struct copies {
    unsigned modules = 0;
    unsigned found = 0;
    char paths[256] = {};
    text_writer text{paths, sizeof paths};
};

int look_at(dl_phdr_info* module, std::size_t, void* data) noexcept {
    auto& all = *static_cast<copies*>(data);
    const bool is_program = all.modules++ == 0;
    const unsigned before = all.found;
    each_note(*module, note_name, note_type,
              [&all](const char*, std::size_t) noexcept { ++all.found; });
    if (all.found == before) return 0;
    if (before != 0) all.text.text(", ");
    all.text.text(is_program ? "the program" : module->dlpi_name);
    return 0;
}

}  // namespace

const char* look_for_copies() noexcept {
    copies all;
    {
        // A fork waits for it: the loader's lock, taken by another thread, stays taken in the child.
        const std::lock_guard lock(sessions_mutex());
        ::dl_iterate_phdr(look_at, &all);
    }
    if (all.found < 2) return "";
    several.note(all.paths);
    return "Another copy of this library is in the process: what uses that one is not recorded "
           "here.";
}

}  // namespace coroscope::runtime
