// SPDX-License-Identifier: Apache-2.0
#include "file_sink.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace coroscope::analysis::inline exports {
namespace {

failure error_of(int error) { return {std::generic_category().message(error)}; }

class output_file {
public:
    explicit output_file(const std::string& path)
        : file_(std::fopen(path.c_str(), "wbe")), error_(file_ == nullptr ? errno : 0) {}
    output_file(const output_file&) = delete;
    output_file& operator=(const output_file&) = delete;
    ~output_file() { close(); }

    bool write(std::string_view text) {
        if (error_ == 0 && std::fwrite(text.data(), 1, text.size(), file_) != text.size())
            error_ = errno;
        return error_ == 0;
    }
    /// The errno of the first error, or 0.
    int close() {
        if (file_ != nullptr && std::fclose(file_) != 0 && error_ == 0) error_ = errno;
        file_ = nullptr;
        return error_;
    }

private:
    std::FILE* file_;
    int error_;
};

written write_to(const std::string& path, const std::function<written(const byte_sink&)>& write) {
    output_file file(path);
    written done = write([&file](std::string_view text) { return file.write(text); });
    if (const int error = file.close(); error != 0) return error_of(error);
    return done;
}

}  // namespace

written to_file(const std::string& path, const std::function<written(const byte_sink&)>& write) {
    const std::string unfinished = path + ".tmp";
    return put_in_place(write_to(unfinished, write), unfinished, path);
}

written put_in_place(written done, const std::string& unfinished, const std::string& path) {
    std::error_code unknown;
    const std::filesystem::file_status there = std::filesystem::status(path, unknown);
    if (done && std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
        done = failure{"there is something else than a file at this place; name another one"};
    if (done && std::rename(unfinished.c_str(), path.c_str()) != 0) done = error_of(errno);
    if (!done) std::remove(unfinished.c_str());
    return done;
}

written deliver(const byte_sink& sink, std::string_view text, std::uint64_t count) {
    if (!sink(text)) return failure{"could not be written"};
    return count;
}

}  // namespace coroscope::analysis::inline exports
