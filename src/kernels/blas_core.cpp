// Threads and identity of the BLAS library. The functions belong to OpenBLAS and are declared weak, so
// another BLAS can be linked; its number of threads is not changed.
#include "kernels/blas.hpp"

#include <algorithm>
#include <mutex>

extern "C" {
__attribute__((weak)) void openblas_set_num_threads(int);
__attribute__((weak)) int openblas_get_num_threads();
__attribute__((weak)) char* openblas_get_config();
__attribute__((weak)) char* openblas_get_corename();
}

namespace espalier {

namespace {

// The number of threads of BLAS is global.
std::mutex blas_mutex;
int blas_users = 0;
int blas_threads_before = 1;

} // namespace

int set_blas_threads(int threads) {
    int const before = openblas_get_num_threads ? openblas_get_num_threads() : 1;
    if (openblas_set_num_threads && threads != before) openblas_set_num_threads(std::max(threads, 1));
    return before;
}

BlasInfo blas_info() {
    return {openblas_get_config ? openblas_get_config() : "unknown BLAS",
            openblas_get_corename ? openblas_get_corename() : ""};
}

SingleThreadedBlas::SingleThreadedBlas() {
    std::lock_guard const lock(blas_mutex);
    if (blas_users++ == 0) blas_threads_before = set_blas_threads(1);
}

SingleThreadedBlas::~SingleThreadedBlas() {
    std::lock_guard const lock(blas_mutex);
    if (--blas_users == 0) set_blas_threads(blas_threads_before);
}

} // namespace espalier
