// SPDX-License-Identifier: Apache-2.0

// Feeds a target every file of the named folders, as a test that keeps earlier findings fixed. The
// first folder has the seeds, and must not be empty. The second one is the corpus; if it is
// missing, the program prints that.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

// NOLINTNEXTLINE(readability-identifier-naming): as libFuzzer calls it
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void feed_file(const std::filesystem::path& path) {
    std::ifstream input(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(input), {}};
    std::fprintf(stderr, "%s\n", path.c_str());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

int feed_folder(const std::filesystem::path& folder) {
    if (!std::filesystem::is_directory(folder)) {
        std::printf("%s: no such folder\n", folder.c_str());
        return 0;
    }
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        feed_file(entry.path());
        ++files;
    }
    std::printf("%s: %d files\n", folder.c_str(), files);
    return files;
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) return 1;
    const int seeds = feed_folder(words[1]);
    for (int each = 2; each < count; ++each) feed_folder(words[each]);
    return seeds == 0 ? 1 : 0;
}
