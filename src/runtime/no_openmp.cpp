// A build without OpenMP.
#include "runtime/other_runtime.hpp"

namespace espalier {

std::unique_ptr<OtherRuntime> make_openmp_tasks(int /*threads*/) {
    return nullptr;
}

} // namespace espalier
