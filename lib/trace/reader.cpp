// SPDX-License-Identifier: Apache-2.0
#include <coroscope/trace/reader.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <tuple>
#include <vector>

#include <coroscope/trace/jobs.hpp>
#include <coroscope/trace/open_format.hpp>

#include "chunk_census.hpp"
#include "chunk_inspection.hpp"
#include "file_bytes.hpp"
#include "trace_header.hpp"
#include "unpack.hpp"

namespace coroscope::trace {

static_assert(std::endian::native == std::endian::little,
              "traces are little-endian and read in place");

namespace {

constexpr std::size_t warning_limit = 64;
constexpr std::uint32_t handing_on_version = 2;  // the first with records of kind next_thread

// Chunks are inspected in batches, so that the results of all chunks need not be kept.
constexpr std::size_t batch_parts = 128;
constexpr std::size_t part_chunks = 32;

bool is_known(chunk_kind kind) {
    return holds_records(kind) || kind == chunk_kind::tasks || kind == chunk_kind::open;
}

}  // namespace

/// Examines each chunk once and fills a reader.
class reader_builder {
public:
    reader_builder(const unsigned char* data, std::uint64_t size, unsigned jobs)
        : data_(data), jobs_(jobs) {
        built_.size_ = size;
    }

    result<reader> build() {
        auto header = read_header(data_, built_.size_);
        if (!header) return header.error();
        built_.header_ = *header;
        examine_chunks();
        warn_of_missing_bytes();
        census_.sort();
        leave_out_doubled();
        warn_of_missing_chunks();
        std::sort(built_.chunks_.begin(), built_.chunks_.end(),
                  [](const chunk_view& left, const chunk_view& right) {
                      return std::tie(left.header.thread, left.header.number, left.offset,
                                      left.records) < std::tie(right.header.thread,
                                                               right.header.number, right.offset,
                                                               right.records);
                  });
        if (unnamed_warnings_ != 0)
            built_.warnings_.push_back("and " + std::to_string(unnamed_warnings_) + " more");
        return std::move(built_);
    }

    /// Must be called if the bytes come from the file `path`, which may have grown since then if
    /// its session still records.
    void read_from(const std::string& path) { path_ = path; }

    void keep(std::shared_ptr<const unsigned char> file) { built_.file_ = std::move(file); }

    /// The other chunks are all zero, and are not read, since some kernels allocate a page that is
    /// read.
    void read_only(std::vector<bool> filled) { filled_ = std::move(filled); }

    /// Adds the losses of the packed trace from which the bytes come.
    void tell_of_packing(std::uint64_t packed_size, const unpacked_trace& unpacked) {
        built_.packed_size_ = packed_size;
        built_.damaged_chunks_ += unpacked.damaged_chunks;
        known_lost_ += unpacked.damaged_chunks;
        for (const std::string& each : unpacked.warnings) warn(each);
    }

private:
    void warn(std::string text) {
        if (built_.warnings_.size() < warning_limit)
            built_.warnings_.push_back(std::move(text));
        else
            ++unnamed_warnings_;
    }

    void warn_of_chunk(const chunk_view& chunk, std::uint64_t byte, const std::string& what) {
        ++built_.damaged_chunks_;
        warn("chunk " + std::to_string(chunk.header.number) + " at byte " +
             std::to_string(chunk.offset) + ": " + what + " (byte " + std::to_string(byte) + ")");
    }

    // A sealed file has exactly the number of chunks in its header.
    void warn_of_missing_bytes() {
        const std::uint64_t chunk_bytes = built_.header_.chunk_bytes;
        const std::uint64_t room =
            built_.size_ > file_header_bytes ? built_.size_ - file_header_bytes : 0;
        const std::uint64_t whole = room / chunk_bytes;
        if (whole >= built_.header_.chunk_count) return;
        const std::uint64_t promised = file_header_bytes + built_.header_.chunk_count * chunk_bytes;
        // A session extends the file before it counts the new chunks.
        if (built_.header_.finished == 0 && !path_.empty() && size_of_file(path_) >= promised)
            return;
        built_.damaged_chunks_ += built_.header_.chunk_count - whole;
        known_lost_ += built_.header_.chunk_count - whole;
        warn("the file is cut off at byte " + std::to_string(built_.size_) + ": " +
             std::to_string(built_.header_.chunk_count - whole) + " of " +
             std::to_string(built_.header_.chunk_count) + " chunks are missing or incomplete");
    }

    void warn_of_missing_chunks() {
        const std::uint64_t missing = census_.missing(built_.header_, known_lost_);
        if (missing == 0) return;
        built_.damaged_chunks_ += missing;
        warn(census_.describe(built_.header_, missing));
    }

    // The first one of equal chunks stays. If chunks with one number differ, none of them stays,
    // because the right one is unknown.
    void leave_out_doubled() {
        std::vector<std::uint64_t> left_out;
        for (const chunk_census::shared_number& shared : census_.shared_numbers()) {
            const bool equal = std::all_of(
                shared.offsets.begin(), shared.offsets.end(),
                [&](std::uint64_t offset) { return same_bytes(shared.offsets[0], offset); });
            left_out.insert(left_out.end(), shared.offsets.begin() + (equal ? 1 : 0),
                            shared.offsets.end());
        }
        std::sort(left_out.begin(), left_out.end());
        for (const std::uint64_t offset : left_out) warn_of_doubled(offset);
        std::erase_if(built_.chunks_, [&left_out](const chunk_view& each) {
            return std::binary_search(left_out.begin(), left_out.end(), each.offset);
        });
    }

    [[nodiscard]] bool same_bytes(std::uint64_t one, std::uint64_t other) const {
        const std::uint64_t bytes = std::min<std::uint64_t>(built_.header_.chunk_bytes,
                                                            built_.size_ - std::max(one, other));
        return std::memcmp(data_ + one, data_ + other, bytes) == 0;
    }

    void warn_of_doubled(std::uint64_t offset) {
        chunk_view chunk;
        std::memcpy(&chunk.header, data_ + offset, sizeof(chunk.header));
        chunk.offset = offset;
        warn_of_chunk(chunk, offset + offsetof(chunk_header, number),
                      "another chunk has its number; left out");
    }

    void examine_chunks() {
        const std::uint64_t chunk_bytes = built_.header_.chunk_bytes;
        const auto available_at = [&](std::uint64_t at) {
            return at < built_.size_ ? std::min(chunk_bytes, built_.size_ - at) : 0;
        };
        const std::uint64_t bytes =
            built_.size_ - std::min<std::uint64_t>(built_.size_, file_header_bytes);
        std::vector<chunk_inspection> found(std::min<std::uint64_t>(
            (bytes + chunk_bytes - 1) / chunk_bytes, batch_parts * part_chunks));
        for (std::uint64_t first = file_header_bytes; first < built_.size_;
             first += found.size() * chunk_bytes) {
            const std::uint64_t left = (built_.size_ - first + chunk_bytes - 1) / chunk_bytes;
            const std::size_t chunks = std::min<std::uint64_t>(left, found.size());
            const auto inspect_part = [&](std::size_t part) {
                const std::size_t end = std::min(chunks, (part + 1) * part_chunks);
                for (std::size_t each = part * part_chunks; each < end; ++each) {
                    const std::uint64_t at = first + each * chunk_bytes;
                    if (is_filled(at)) found[each] = inspect(data_ + at, available_at(at));
                }
            };
            trace::in_parallel(jobs_, (chunks + part_chunks - 1) / part_chunks, inspect_part);
            for (std::size_t each = 0; each < chunks; ++each) {
                const std::uint64_t at = first + each * chunk_bytes;
                if (is_filled(at)) examine(at, available_at(at), found[each]);
            }
        }
    }

    [[nodiscard]] bool is_filled(std::uint64_t offset) const {
        const std::uint64_t chunk = (offset - file_header_bytes) / built_.header_.chunk_bytes;
        return chunk >= filled_.size() || filled_[chunk];
    }

    void examine(std::uint64_t offset, std::uint64_t available, const chunk_inspection& found) {
        if (available < chunk_header_bytes) return;  // counted by warn_of_missing_bytes
        chunk_view chunk;
        chunk.header = found.header;
        chunk.offset = offset;
        chunk.records = data_ + offset + chunk_header_bytes;
        chunk.bytes = available - chunk_header_bytes;
        if (!plausible(chunk)) return;
        if (chunk.header.state == chunk_state::sealed && !take_sealed(chunk, available, found))
            return census_.add_unreadable();
        census_.add(chunk.header, offset, available == built_.header_.chunk_bytes);
        if (chunk.header.kind == chunk_kind::tasks)
            chunk.bytes -= chunk.bytes % sizeof(task_slot);
        else if (chunk.header.kind == chunk_kind::open)
            chunk.bytes -= chunk.bytes % sizeof(open_scope);
        else
            keep_whole_records(chunk, found);
        if (found.handed_on && chunk.header.kind == chunk_kind::records)
            return keep_sections(chunk);
        if (chunk.bytes != 0) built_.chunks_.push_back(chunk);
    }

    bool plausible(const chunk_view& chunk) {
        const chunk_header& header = chunk.header;
        if (header.magic == 0 && header.state == chunk_state::free) return false;
        if (header.magic != chunk_magic) {
            warn_of_chunk(chunk, chunk.offset, "it does not begin like a chunk; left out");
            census_.add_unreadable();
            return false;
        }
        if (!is_known(header.kind)) {
            warn_of_chunk(chunk, chunk.offset + offsetof(chunk_header, kind),
                          "its kind is unknown; left out");
            census_.add_unreadable();
            return false;
        }
        if (header.state > chunk_state::sealed) {
            warn_of_chunk(chunk, chunk.offset + offsetof(chunk_header, state),
                          "its state is unknown; left out");
            census_.add_unreadable();
            return false;
        }
        return true;
    }

    // A checksum can be verified only over all its bytes. If the end of the file cuts the chunk,
    // the records before the cut are taken as those of an open chunk.
    bool take_sealed(chunk_view& chunk, std::uint64_t available, const chunk_inspection& found) {
        const std::uint64_t used = chunk.header.used_bytes;
        if (used > built_.header_.chunk_bytes - chunk_header_bytes) {
            warn_of_chunk(chunk, chunk.offset + offsetof(chunk_header, used_bytes),
                          "it claims more bytes than it has; left out");
            return false;
        }
        if (used > available - chunk_header_bytes) return true;
        chunk.bytes = used;
        if (found.sum_matches) return true;
        warn_of_chunk(chunk, chunk.offset + chunk_header_bytes,
                      "its checksum does not match; left out");
        return false;
    }

    void keep_whole_records(chunk_view& chunk, const chunk_inspection& found) {
        const std::size_t at = found.bytes;
        const bool cut_by_file = chunk.offset + built_.header_.chunk_bytes > built_.size_;
        if (found.next_tag != 0 && !(cut_by_file && trace::record_bytes(found.next_tag) != 0))
            warn_of_chunk(chunk, chunk.offset + chunk_header_bytes + at,
                          "a record of unknown kind or size; the rest of the chunk is left out");
        else if (chunk.header.state == chunk_state::sealed && !cut_by_file &&
                 found.records != chunk.header.records)
            warn_of_chunk(chunk, chunk.offset + offsetof(chunk_header, records),
                          "it holds " + std::to_string(found.records) + " records and claims " +
                              std::to_string(chunk.header.records));
        chunk.bytes = at;
        chunk.starts = found.starts;
    }

    // Adds a chunk for each thread that wrote to this one.
    void keep_sections(const chunk_view& chunk) {
        std::size_t at = 0;
        for (chunk_view section = chunk;;) {
            const std::size_t begin = at;
            const record_view record = next_thread_in(chunk, at);
            section.records = chunk.records + begin;
            section.bytes = at - begin;
            if (section.bytes != 0) built_.chunks_.push_back(section);
            if (record.bytes == 0) return;
            if (!names_a_thread(record, chunk.header.state)) {
                warn_of_chunk(chunk, chunk.offset + chunk_header_bytes + at,
                              "it is handed on to a thread that is none; the rest of the chunk is "
                              "left out");
                return;
            }
            section.header.thread = record.id();
            section.header.opened_ticks = record.word(0);
            section.header.current_task = record.word(2);
            section.header.thread_body_offset = record.word(3);
            at += record.bytes;
        }
    }

    // Searches from `at`, and moves it to the record found, or to the end.
    static record_view next_thread_in(const chunk_view& chunk, std::size_t& at) {
        for (;;) {
            const record_view record = record_at(chunk.records + at, chunk.bytes - at);
            if (record.bytes == 0 || record.kind() == record_kind::next_thread) return record;
            at += record.bytes;
        }
    }

    // The record names its thread twice: by its id and by the place of its description. In a chunk
    // without a checksum a contradiction shows damage. If that place is empty, the description is
    // lost, which is not a fault of this chunk.
    [[nodiscard]] bool names_a_thread(const record_view& record, chunk_state state) const {
        if (record.id() == 0 || built_.header_.version < handing_on_version) return false;
        if (state == chunk_state::sealed) return true;
        const std::uint64_t body = record.word(3);
        if (body % record_unit_bytes != 0 || body <= file_header_bytes) return false;
        if (body > built_.size_) return body < end_of_chunks();
        std::uint64_t tag;
        std::memcpy(&tag, data_ + body - sizeof(tag), sizeof(tag));
        return tag == 0 || tag == make_tag(record_kind::thread, record.id(), sizeof(thread_body));
    }

    [[nodiscard]] std::uint64_t end_of_chunks() const {
        return file_header_bytes + built_.header_.chunk_count * built_.header_.chunk_bytes;
    }

    const unsigned char* data_;
    unsigned jobs_;
    std::vector<bool> filled_;  // empty: any chunk may be
    std::string path_;          // empty: the bytes are not from a file
    reader built_;
    chunk_census census_;
    // chunks without bytes that are counted already
    std::uint64_t known_lost_ = 0;
    std::uint64_t unnamed_warnings_ = 0;
};

namespace {

result<reader> open_packed(const unsigned char* data, std::uint64_t size, unsigned jobs) {
    auto unpacked = unpack(data, size);
    if (!unpacked) return unpacked.error();
    reader_builder builder(unpacked->bytes.data.get(), unpacked->bytes.size, jobs);
    builder.tell_of_packing(size, *unpacked);
    builder.read_only(std::move(unpacked->filled));
    builder.keep(std::move(unpacked->bytes.data));
    return builder.build();
}

}  // namespace

result<reader> reader::open(const std::string& path) { return open(path, 1); }

result<reader> reader::open(const buffer& bytes) { return open(bytes, 1); }

result<reader> reader::open(const std::string& path, unsigned jobs) {
    auto file = read_file(path);
    if (!file) return file.error();
    if (is_packed(file->data.get(), file->size))
        return open_packed(file->data.get(), file->size, jobs);
    reader_builder builder(file->data.get(), file->size, jobs);
    builder.keep(std::move(file->data));
    builder.read_from(path);
    return builder.build();
}

result<reader> reader::open(const buffer& bytes, unsigned jobs) {
    if (is_packed(bytes.data(), bytes.size())) return open_packed(bytes.data(), bytes.size(), jobs);
    return reader_builder(bytes.data(), bytes.size(), jobs).build();
}

bool is_trace(std::string_view first) noexcept {
    const auto* data = reinterpret_cast<const unsigned char*>(first.data());
    return is_packed(data, first.size()) ||
           (first.size() >= sizeof(file_magic) &&
            std::memcmp(data, &file_magic, sizeof(file_magic)) == 0);
}

}  // namespace coroscope::trace
