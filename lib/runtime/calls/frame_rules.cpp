// SPDX-License-Identifier: Apache-2.0
#include "frame_rules.hpp"

#if defined(__x86_64__)

#include <cstddef>
#include <cstring>

// Of the library that unwinds the stack for exceptions. Null if it does not have this function.
struct coroscope_unwind_bases {
    void* text;
    void* data;
    void* function;
};
// NOLINTNEXTLINE(readability-identifier-naming): the name of the C library
extern "C" [[gnu::weak]] const unsigned char* _Unwind_Find_FDE(void* address,
                                                               coroscope_unwind_bases* bases);

namespace coroscope::runtime::inline calls {
namespace {

constexpr std::uint64_t number_of_frame_pointer = 6;
constexpr std::uint64_t number_of_stack_pointer = 7;
constexpr std::uint64_t number_of_return_address = 16;

/// Reads the tables. A read behind the end sets `failed` and gives 0.
class table_reader {
public:
    table_reader(const unsigned char* begin, const unsigned char* end) : at_(begin), end_(end) {}

    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] bool is_over() const { return failed_ || at_ >= end_; }
    [[nodiscard]] const unsigned char* place() const { return at_; }
    [[nodiscard]] const unsigned char* end() const { return end_; }
    void fail() { failed_ = true; }

    void skip(std::uint64_t bytes) {
        if (bytes > static_cast<std::uint64_t>(end_ - at_)) return fail();
        at_ += bytes;
    }
    template <class Number>
    Number number() {
        Number read = 0;
        const unsigned char* const from = at_;
        skip(sizeof read);
        if (!failed_) std::memcpy(&read, from, sizeof read);
        return read;
    }
    std::uint64_t unsigned_leb() { return leb(nullptr); }
    std::int64_t signed_leb() {
        unsigned bits = 0;
        const std::uint64_t read = leb(&bits);
        const bool negative = bits != 0 && bits < 64 && (read >> (bits - 1) & 1) != 0;
        return static_cast<std::int64_t>(negative ? read | ~std::uint64_t{0} << bits : read);
    }

private:
    std::uint64_t leb(unsigned* bits) {
        std::uint64_t read = 0;
        unsigned shift = 0;
        while (!failed_ && shift < 64) {
            const auto byte = number<std::uint8_t>();
            read |= std::uint64_t{byte & 0x7fU} << shift;
            shift += 7;
            if ((byte & 0x80U) == 0) break;
        }
        if (bits != nullptr) *bits = shift;
        return read;
    }

    const unsigned char* at_;
    const unsigned char* end_;
    bool failed_ = false;
};

/// Skips an address in that encoding.
void skip_address(table_reader& from, unsigned encoding) {
    constexpr unsigned omitted = 0xff;
    constexpr unsigned aligned = 0x50;
    if (encoding == omitted) return;
    if ((encoding & 0x70U) == aligned) return from.fail();
    switch (encoding & 0xfU) {
        case 0x0:
        case 0x4:
        case 0xc: return from.skip(8);
        case 0x2:
        case 0xa: return from.skip(2);
        case 0x3:
        case 0xb: return from.skip(4);
        case 0x1: from.unsigned_leb(); return;
        case 0x9: from.signed_leb(); return;
        default: return from.fail();
    }
}

/// The rules of one row of a table.
struct row {
    std::uint64_t base = 0;  // number of a register
    std::int64_t size = 0;
    std::int64_t saved = 0;  // of the frame pointer; 0: not saved
    std::int64_t return_address = 0;
    bool is_known = true;  // no rule for these is an expression, or of another unusual form
};

/// The entry that several functions share.
struct common_entry {
    std::uint64_t code_unit = 0;
    std::int64_t data_unit = 0;
    unsigned encoding = 0;  // of addresses
    bool has_size = false;  // of the augmentation data
    const unsigned char* instructions = nullptr;
    const unsigned char* end = nullptr;
};

table_reader whole_entry(const unsigned char* entry) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, entry, sizeof bytes);
    constexpr std::uint32_t has_long_size = 0xffffffff;
    table_reader read(entry + 4, entry + 4 + (bytes == has_long_size ? 0 : bytes));
    return read;
}

bool read_augmentation(table_reader& from, const char* letters, common_entry& found) {
    if (*letters == '\0') return true;
    if (*letters != 'z') return false;
    found.has_size = true;
    const std::uint64_t bytes = from.unsigned_leb();
    const unsigned char* const begin = from.place();
    for (++letters; *letters != '\0' && !from.failed(); ++letters) {
        switch (*letters) {
            case 'R': found.encoding = from.number<std::uint8_t>(); break;
            case 'L': from.skip(1); break;
            case 'P': skip_address(from, from.number<std::uint8_t>()); break;
            default: return false;  // 'S': the frame of a signal's handler
        }
    }
    const auto used = static_cast<std::uint64_t>(from.place() - begin);
    if (used > bytes) return false;
    from.skip(bytes - used);
    return !from.failed();
}

bool read_common(const unsigned char* entry, common_entry& found) {
    table_reader from = whole_entry(entry);
    if (from.number<std::uint32_t>() != 0) return false;
    const auto version = from.number<std::uint8_t>();
    if (version != 1 && version != 3) return false;
    const auto* const letters = reinterpret_cast<const char*>(from.place());
    while (!from.failed() && from.number<char>() != '\0') {
    }
    found.code_unit = from.unsigned_leb();
    found.data_unit = from.signed_leb();
    const std::uint64_t returns = version == 1 ? from.number<std::uint8_t>() : from.unsigned_leb();
    if (from.failed() || returns != number_of_return_address) return false;
    if (!read_augmentation(from, letters, found)) return false;
    found.instructions = from.place();
    found.end = from.end();
    return true;
}

/// Runs the instructions of a table up to the row of an address.
class row_finder {
public:
    row_finder(const common_entry& common, std::uint64_t wanted)
        : common_(common), wanted_(wanted) {}

    bool run(const unsigned char* begin, const unsigned char* end) {
        table_reader from(begin, end);
        while (!from.is_over() && reached_ <= wanted_ && is_understood_) step(from);
        return is_understood_ && !from.failed();
    }
    /// The rows after this call belong to the function; those before to all functions.
    void begin_function() { initial_ = now_; }
    [[nodiscard]] const row& found() const { return reached_ <= wanted_ ? now_ : before_; }

private:
    void advance(std::uint64_t units) {
        before_ = now_;
        reached_ += units * common_.code_unit;
    }
    void set_offset(std::uint64_t number, std::int64_t units) {
        const std::int64_t bytes = units * common_.data_unit;
        if (number == number_of_frame_pointer) now_.saved = bytes;
        if (number == number_of_return_address) now_.return_address = bytes;
    }
    void restore(std::uint64_t number) {
        if (number == number_of_frame_pointer) now_.saved = initial_.saved;
        if (number == number_of_return_address) now_.return_address = initial_.return_address;
    }
    void set_unusual(std::uint64_t number) {
        if (number == number_of_frame_pointer || number == number_of_return_address)
            now_.is_known = false;
    }
    void remember() {
        if (depth_ == most) {
            is_understood_ = false;
            return;
        }
        kept_[depth_++] = now_;
    }
    void recall() {
        if (depth_ == 0)
            is_understood_ = false;
        else
            now_ = kept_[--depth_];
    }

    void step(table_reader& from) {
        const auto code = from.number<std::uint8_t>();
        const std::uint64_t low = code & 0x3fU;
        switch (code >> 6) {
            case 1: return advance(low);
            case 2: return set_offset(low, static_cast<std::int64_t>(from.unsigned_leb()));
            case 3: return restore(low);
            default: return step_extended(from, code);
        }
    }

    void step_extended(table_reader& from, unsigned code) {
        const auto offset = [&from] { return static_cast<std::int64_t>(from.unsigned_leb()); };
        const auto skip_block = [&from] { from.skip(from.unsigned_leb()); };
        std::uint64_t number = 0;
        switch (code) {
            case 0x00: return;                                        // nop
            case 0x02: return advance(from.number<std::uint8_t>());   // advance_loc1
            case 0x03: return advance(from.number<std::uint16_t>());  // advance_loc2
            case 0x04: return advance(from.number<std::uint32_t>());  // advance_loc4
            case 0x05:                                                // offset_extended
                number = from.unsigned_leb();
                return set_offset(number, offset());
            case 0x06: return restore(from.unsigned_leb());      // restore_extended
            case 0x07: return set_unusual(from.unsigned_leb());  // undefined
            case 0x08:                                           // same_value
                number = from.unsigned_leb();
                if (number == number_of_frame_pointer) now_.saved = 0;
                return;
            case 0x09:  // register
                set_unusual(from.unsigned_leb());
                from.unsigned_leb();
                return;
            case 0x0a: return remember();
            case 0x0b: return recall();
            case 0x0c:  // def_cfa
                now_.base = from.unsigned_leb();
                now_.size = offset();
                return;
            case 0x0d: now_.base = from.unsigned_leb(); return;  // def_cfa_register
            case 0x0e: now_.size = offset(); return;             // def_cfa_offset
            case 0x0f:                                           // def_cfa_expression
                now_.base = ~std::uint64_t{0};
                return skip_block();
            case 0x10:
            case 0x16:  // expression, val_expression
                set_unusual(from.unsigned_leb());
                return skip_block();
            case 0x11:  // offset_extended_sf
                number = from.unsigned_leb();
                return set_offset(number, from.signed_leb());
            case 0x12:  // def_cfa_sf
                now_.base = from.unsigned_leb();
                now_.size = from.signed_leb() * common_.data_unit;
                return;
            case 0x13: now_.size = from.signed_leb() * common_.data_unit; return;
            case 0x14:
            case 0x15:  // val_offset, val_offset_sf
                set_unusual(from.unsigned_leb());
                from.unsigned_leb();
                return;
            case 0x2e: from.unsigned_leb(); return;  // GNU_args_size
            default: is_understood_ = false;
        }
    }

    static constexpr std::size_t most = 8;

    const common_entry& common_;
    std::uint64_t wanted_;       // bytes from the function's begin
    std::uint64_t reached_ = 0;  // the same, of the row that is being made
    row now_, before_, initial_;
    row kept_[most];
    std::size_t depth_ = 0;
    bool is_understood_ = true;
};

bool to_rule(const row& found, frame_rule& rule) {
    constexpr std::int64_t word = 8;
    if (!found.is_known || found.return_address != -word) return false;
    if (found.base != number_of_stack_pointer && found.base != number_of_frame_pointer)
        return false;
    if (found.saved > 0 || found.saved % word != 0 || found.size % word != 0) return false;
    rule.from = found.base == number_of_stack_pointer ? frame_base::stack_pointer
                                                      : frame_base::frame_pointer;
    rule.size = found.size;
    rule.saved = found.saved;
    return true;
}

}  // namespace

bool find_frame_rule(std::uintptr_t return_address, frame_rule& found) noexcept {
    if (return_address == 0 || &_Unwind_Find_FDE == nullptr) return false;
    const std::uintptr_t inside = return_address - 1;
    coroscope_unwind_bases bases{};
    const unsigned char* const entry = _Unwind_Find_FDE(reinterpret_cast<void*>(inside), &bases);
    if (entry == nullptr) return false;
    table_reader from = whole_entry(entry);
    const unsigned char* const link = from.place();
    const auto distance = from.number<std::int32_t>();
    common_entry common;
    if (from.failed() || distance <= 0 || !read_common(link - distance, common)) return false;
    skip_address(from, common.encoding);
    skip_address(from, common.encoding & 0xfU);
    if (common.has_size) from.skip(from.unsigned_leb());
    if (from.failed()) return false;
    row_finder rows(common, inside - reinterpret_cast<std::uintptr_t>(bases.function));
    if (!rows.run(common.instructions, common.end)) return false;
    rows.begin_function();
    return rows.run(from.place(), from.end()) && to_rule(rows.found(), found);
}

}  // namespace coroscope::runtime::inline calls

#else

namespace coroscope::runtime::inline calls {

bool find_frame_rule(std::uintptr_t, frame_rule&) noexcept { return false; }

}  // namespace coroscope::runtime::inline calls

#endif
