// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writers of the seeds of each target.

#include <filesystem>
#include <fstream>
#include <string_view>

namespace coroscope_fuzz {

class seed_folder {
public:
    explicit seed_folder(const std::filesystem::path& where) : where_(where) {
        std::filesystem::create_directories(where);
    }
    void add(std::string_view name, std::string_view bytes) const {
        std::ofstream(where_ / name, std::ios::binary) << bytes;
    }

private:
    std::filesystem::path where_;
};

/// Seeds of the target `events`.
void add_event_seeds(const seed_folder& events);

/// Seeds of the targets for which database.cpp makes tables.
void add_nvprof_seeds(const seed_folder& nvprof);
void add_nsight_seeds(const seed_folder& nsight);

}  // namespace coroscope_fuzz
