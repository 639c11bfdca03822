#include "kernels/single_threaded_blas.hpp"

#include <mutex>

#include "kernels/blas.hpp"

namespace espalier {

namespace {

// The number of threads of BLAS is global.
std::mutex blas_mutex;
int blas_users = 0;
int blas_threads_before = 1;

} // namespace

SingleThreadedBlas::SingleThreadedBlas() {
    std::lock_guard const lock(blas_mutex);
    if (blas_users++ == 0) blas_threads_before = set_blas_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
    std::lock_guard const lock(blas_mutex);
    if (--blas_users == 0) set_blas_threads(blas_threads_before);
}

} // namespace espalier
