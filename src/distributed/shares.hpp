// Columns or rows that processes share: consecutive ones, evenly many.
#pragma once

#include <algorithm>

#include "espalier/types.hpp"

namespace espalier {

/// `count` things over `parts` processes; those with the lower numbers have one more when it does not divide.
class Shares {
  public:
    Shares(Index count, int parts) : least_(count / parts), longer_(count % parts) {}
    /// Of process 0 <= part; that of the process after the last is `count`.
    [[nodiscard]] Index first(int part) const { return least_ * part + std::min<Index>(part, longer_); }
    [[nodiscard]] Index size(int part) const { return first(part + 1) - first(part); }
    /// Who has the k-th.
    [[nodiscard]] int owner(Index k) const {
        Index const of_longer = longer_ * (least_ + 1);
        return static_cast<int>(k < of_longer ? k / (least_ + 1) : longer_ + (k - of_longer) / least_);
    }

  private:
    Index least_;
    Index longer_; // processes with one more
};

} // namespace espalier
