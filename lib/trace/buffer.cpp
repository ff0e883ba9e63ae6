// SPDX-License-Identifier: Apache-2.0
#include <coroscope/trace/buffer.hpp>

#include <cstdlib>
#include <cstring>

namespace coroscope::trace {

buffer buffer::adopt(void* data, std::size_t size) noexcept {
    buffer taken;
    taken.data_ = static_cast<unsigned char*>(data);
    taken.size_ = size;
    return taken;
}

buffer buffer::copy(const void* data, std::size_t size) noexcept {
    if (size == 0) return {};
    void* memory = std::malloc(size);
    if (memory == nullptr) return {};
    std::memcpy(memory, data, size);
    return adopt(memory, size);
}

void buffer::reset() noexcept {
    std::free(data_);
    data_ = nullptr;
    size_ = 0;
}

}  // namespace coroscope::trace
