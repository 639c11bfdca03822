// An array of numbers that grows without writing to memory that is not used yet.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace espalier {

template <class T> class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    [[nodiscard]] T* data() const { return data_.get(); }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    T& operator[](std::size_t k) const { return data_.get()[k]; }

    /// Makes room for `capacity` entries; new ones are undefined. Throws std::bad_alloc.
    void reserve(std::size_t capacity) {
        if (capacity <= capacity_) return;
        void* const larger = std::realloc(static_cast<void*>(data_.get()), capacity * sizeof(T));
        if (!larger) throw std::bad_alloc();
        static_cast<void>(data_.release());
        data_.reset(static_cast<T*>(larger));
        capacity_ = capacity;
    }
    /// Sets the number of used entries, at most the capacity.
    void set_size(std::size_t size) { size_ = size; }

  private:
    struct Free {
        void operator()(T* data) const { std::free(static_cast<void*>(data)); }
    };
    std::unique_ptr<T, Free> data_;
    std::size_t size_ = 0, capacity_ = 0;
};

} // namespace espalier
