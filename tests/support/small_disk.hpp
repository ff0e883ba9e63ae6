// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch_file.hpp"

namespace coroscope::test {

/// A file system of 8 MiB in a new folder, visible to this process and its children only. If the
/// process may not mount it, refusal() gives the reason.
class small_disk {
public:
    explicit small_disk(const std::string& type) {
        static const bool own_namespace =
            ::unshare(CLONE_NEWNS) == 0 &&
            ::mount("none", "/", "none", MS_REC | MS_PRIVATE, nullptr) == 0;
        if (!own_namespace)
            refusal_ = "may not make a mount namespace";
        else if (type == "tmpfs")
            mount_tmpfs();
        else
            mount_image(type);
    }
    small_disk(const small_disk&) = delete;
    small_disk& operator=(const small_disk&) = delete;
    ~small_disk() {
        if (refusal_.empty()) ::umount2(folder().c_str(), MNT_DETACH);
        ::unlink((place_.folder() + "/image").c_str());
        ::rmdir(folder().c_str());
    }

    const std::string& refusal() const { return refusal_; }
    std::string folder() const { return place_.folder() + "/disk"; }
    std::string path() const { return folder() + "/trace.cst"; }

private:
    void mount_tmpfs() {
        ::mkdir(folder().c_str(), 0700);
        if (::mount("none", folder().c_str(), "tmpfs", 0, "size=8m") != 0)
            refusal_ = "may not mount a tmpfs";
    }
    void mount_image(const std::string& type) {
        ::mkdir(folder().c_str(), 0700);
        const std::string image = place_.folder() + "/image";
        const std::string commands = "truncate -s 8M " + image + " && mkfs." + type + " -q " +
                                     image + " && mount -o loop " + image + " " + folder();
        if (std::system(("{ " + commands + "; } >/dev/null 2>&1").c_str()) != 0)
            refusal_ = "may not mount a small " + type;
    }

    scratch_file place_;
    std::string refusal_;
};

}  // namespace coroscope::test
