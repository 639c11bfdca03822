// Restricts BLAS to one thread inside tasks and restores the caller's setting afterwards.
#pragma once

namespace espalier {

/// BLAS uses one thread while at least one object exists. The last destructor restores the previous number.
class SingleThreadedBlas {
  public:
    SingleThreadedBlas();
    ~SingleThreadedBlas();
    SingleThreadedBlas(SingleThreadedBlas const&) = delete;
    SingleThreadedBlas& operator=(SingleThreadedBlas const&) = delete;
};

} // namespace espalier
