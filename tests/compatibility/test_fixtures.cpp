// SPDX-License-Identifier: Apache-2.0

// Traces of every released version of the format still have the contents that they had when they
// were recorded.

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <coroscope/analysis/load.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/pack_format.hpp>
#include <coroscope/trace/reader.hpp>

#include "describe.hpp"

namespace {

using namespace coroscope;

const std::filesystem::path fixtures = COROSCOPE_FIXTURES;

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// The first version of packed traces that packs traces of a version of the format.
std::uint32_t first_packing(unsigned version) { return version == 1 ? 1 : 2; }

// Facts came with version 2.
std::vector<std::string> fixtures_of(unsigned version) {
    if (version == 1) return {"recorded", "built"};
    return {"recorded", "built", "watched", "facts"};
}

std::filesystem::path folder_of(unsigned version) {
    return (fixtures / "v") += std::to_string(version);
}

}  // namespace

TEST_SUITE("traces of earlier versions") {
    TEST_CASE("have the contents that they had when they were recorded, packed or not") {
        for (unsigned version = 1; version <= trace::format_version; ++version) {
            for (const std::string& name : fixtures_of(version)) {
                const std::string expected = text_of(folder_of(version) / (name + ".txt"));
                REQUIRE(expected.size() > 100);
                std::vector<std::string> forms{".cst"};
                for (std::uint32_t packed = first_packing(version); packed <= trace::pack_version;
                     ++packed)
                    forms.push_back(test::packed_ending(packed));
                for (const std::string& form : forms) {
                    const std::filesystem::path file = folder_of(version) / (name + form);
                    CAPTURE(file);
                    const auto loaded = analysis::load(file);
                    REQUIRE(loaded);
                    CHECK(test::describe(*loaded) == expected);
                }
            }
        }
    }

    TEST_CASE("are packed in the version that their file name gives") {
        for (std::uint32_t packed = 1; packed <= trace::pack_version; ++packed) {
            const std::string bytes =
                text_of(folder_of(1) / ("recorded" + test::packed_ending(packed)));
            trace::pack_header header{};
            REQUIRE(bytes.size() > sizeof(header));
            std::memcpy(&header, bytes.data(), sizeof(header));
            CHECK(header.version == packed);
        }
    }

    TEST_CASE("include fixtures of the version that is written now, in that version") {
        const auto read = trace::reader::open(folder_of(trace::format_version) / "recorded.cst");
        REQUIRE(read);
        CHECK(read->header().version == trace::format_version);
    }
}
