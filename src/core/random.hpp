// Random numbers and smooth random fields that are identical on every platform. They use only integer
// arithmetic and sums and products of doubles, unlike the distributions of the standard library.
#pragma once

#include <cstdint>

#include "core/mix_bits.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// Converts the upper 53 bits to a double in [0, 1).
inline double unit_interval(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

class SplitMix64 {
  public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() { return mix_bits(state_ += golden_increment); }
    /// The k-th number of the sequence of `seed`, from 0.
    static std::uint64_t at(std::uint64_t seed, Index k) {
        return mix_bits(seed + (static_cast<std::uint64_t>(k) + 1) * golden_increment);
    }
    /// A number in 0 .. bound - 1, bound > 0. The bias of the remainder, bound / 2^64, is negligible.
    Index below(Index bound) { return static_cast<Index>(next() % static_cast<std::uint64_t>(bound)); }
    double uniform(double low, double high) { return low + (high - low) * unit_interval(next()); }
    static double uniform_at(std::uint64_t seed, Index k, double low, double high) {
        return low + (high - low) * unit_interval(at(seed, k));
    }

  private:
    std::uint64_t state_;
};

/// A smooth random field with values in [-1, 1]: random values on a lattice with spacings (sx, sy, sz),
/// interpolated by a cubic that has zero slope at the lattice points.
class SmoothNoise {
  public:
    SmoothNoise(std::uint64_t seed, double sx, double sy, double sz)
        : seed_(mix_bits(seed)), scale_{1 / sx, 1 / sy, 1 / sz} {}

    /// The value at a point with non-negative coordinates.
    [[nodiscard]] double operator()(double x, double y, double z) const {
        double const scaled[3] = {x * scale_[0], y * scale_[1], z * scale_[2]};
        std::uint64_t cell[3];
        double blend[3];
        for (int d = 0; d < 3; ++d) {
            cell[d] = static_cast<std::uint64_t>(scaled[d]);
            double const t = scaled[d] - static_cast<double>(cell[d]);
            blend[d] = t * t * (3 - 2 * t);
        }
        double sum = 0;
        for (unsigned corner = 0; corner < 8; ++corner) {
            double weight = 1;
            std::uint64_t hash = seed_;
            for (unsigned d = 0; d < 3; ++d) {
                unsigned const up = corner >> d & 1u;
                weight *= up ? blend[d] : 1 - blend[d];
                hash = mix_bits(hash + golden_increment * (cell[d] + up + 1));
            }
            sum += weight * (2 * unit_interval(hash) - 1);
        }
        return sum;
    }

  private:
    std::uint64_t seed_;
    double scale_[3];
};

} // namespace espalier
