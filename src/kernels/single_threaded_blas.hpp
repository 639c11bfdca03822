// BLAS runs on one thread inside tasks; the caller's setting comes back afterwards.
#pragma once

namespace espalier {

/// BLAS uses one thread while at least one of these exists; the last one to go restores the previous number.
class SingleThreadedBlas {
  public:
    SingleThreadedBlas();
    ~SingleThreadedBlas();
    SingleThreadedBlas(SingleThreadedBlas const&) = delete;
    SingleThreadedBlas& operator=(SingleThreadedBlas const&) = delete;
};

} // namespace espalier
