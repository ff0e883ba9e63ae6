// SPDX-License-Identifier: Apache-2.0
#include "copies.hpp"

#include <cstdint>
#include <mutex>

#include "../base/elf_notes.hpp"
#include "../base/fault_record.hpp"
#include "../base/text_writer.hpp"
#include "../writer/session_table.hpp"

// Each copy of the library has an ELF note, so that the other copies can find it. A symbol would
// not do, because it may be hidden.
asm(".pushsection .note.coroscope, \"a\", %note\n"
    ".balign 4\n"
    ".long 10, 4, 1\n"  // size of the name, of the description, type
    ".asciz \"Coroscope\"\n"
    ".balign 4\n"
    ".long 1\n"  // the note's version
    ".popsection\n");

namespace coroscope::runtime::inline sessions {
namespace {

constexpr const char* note_name = "Coroscope";
constexpr std::uint32_t note_type = 1;

constinit fault_record several{"coroscope: several copies of this library are in the process, and "
                               "none sees the records of the others; "
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
        // A fork waits for this lock. Without it, a fork could copy the loader's lock while this
        // thread holds it, and the child could never take it.
        const std::lock_guard lock(sessions_mutex());
        ::dl_iterate_phdr(look_at, &all);
    }
    if (all.found < 2) return "";
    several.note(all.paths);
    return "Another copy of this library is in the process: code that uses it is not recorded "
           "here.";
}

}  // namespace coroscope::runtime::inline sessions
