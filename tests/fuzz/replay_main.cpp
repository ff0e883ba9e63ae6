// SPDX-License-Identifier: Apache-2.0

// Feeds a target every file of the folders that are named, as a test: what fuzzing found once stays found.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** words) {
    int files = 0;
    for (int each = 1; each < count; ++each) {
        if (!std::filesystem::is_directory(words[each])) continue;
        for (const auto& entry : std::filesystem::directory_iterator(words[each])) {
            std::ifstream input(entry.path(), std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(input), {}};
            std::fprintf(stderr, "%s\n", entry.path().c_str());
            LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                   bytes.size());
            ++files;
        }
    }
    std::printf("%d files\n", files);
    return files == 0 ? 1 : 0;
}
