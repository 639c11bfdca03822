// Conversion of values to bytes, for messages to other processes of the same program. Trivially copyable
// types, vectors and strings need no description; any other type lists its members once:
//
//     template <class Archive> void describe(Archive& archive, Thing& thing) { archive(thing.a, thing.b); }
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/error.hpp"

namespace espalier {

namespace pack_detail {
template <class T> inline constexpr bool is_sequence = false;
template <class T> inline constexpr bool is_sequence<std::vector<T>> = true;
template <> inline constexpr bool is_sequence<std::string> = true;
} // namespace pack_detail

class Packer {
  public:
    template <class... T> void operator()(T const&... values) { (put(values), ...); }
    [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    template <class T> void put(T const& value) {
        if constexpr (pack_detail::is_sequence<T>) {
            put(value.size());
            if constexpr (std::is_trivially_copyable_v<typename T::value_type>)
                put_bytes(value.data(), value.size() * sizeof(typename T::value_type));
            else
                for (auto const& one : value) put(one);
        } else if constexpr (std::is_trivially_copyable_v<T>) {
            put_bytes(&value, sizeof(T));
        } else {
            describe(*this, const_cast<T&>(value)); // a Packer only reads the value
        }
    }
    void put_bytes(void const* data, std::size_t size) {
        std::size_t const at = bytes_.size();
        bytes_.resize(at + size);
        if (size > 0) std::memcpy(bytes_.data() + at, data, size);
    }

    std::vector<std::byte> bytes_;
};

class Unpacker {
  public:
    /// The memory of `bytes` must outlive the Unpacker.
    explicit Unpacker(std::span<std::byte const> bytes) : bytes_(bytes) {}
    /// Reads values in the order of packing. Throws Error{internal} if there are too few bytes.
    template <class... T> void operator()(T&... values) { (get(values), ...); }
    [[nodiscard]] bool at_end() const { return bytes_.empty(); }

  private:
    template <class T> void get(T& value) {
        if constexpr (pack_detail::is_sequence<T>) {
            std::size_t size = 0;
            get(size);
            if constexpr (std::is_trivially_copyable_v<typename T::value_type>) {
                require(size, sizeof(typename T::value_type));
                value.resize(size);
                get_bytes(value.data(), size * sizeof(typename T::value_type));
            } else {
                require(size, 1);
                value.resize(size);
                for (auto& one : value) get(one);
            }
        } else if constexpr (std::is_trivially_copyable_v<T>) {
            get_bytes(&value, sizeof(T));
        } else {
            describe(*this, value);
        }
    }
    void require(std::size_t count, std::size_t size) const {
        if (count > bytes_.size() / size)
            throw Error(Status::internal, "a message of another process ends too early");
    }
    void get_bytes(void* data, std::size_t size) {
        require(size, 1);
        if (size > 0) std::memcpy(data, bytes_.data(), size);
        bytes_ = bytes_.subspan(size);
    }

    std::span<std::byte const> bytes_;
};

} // namespace espalier
