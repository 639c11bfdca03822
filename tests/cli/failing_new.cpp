// A library for LD_PRELOAD that lets allocations by operator new fail in an unchanged program: the one with
// the number in FAILING_NEW, counted from the start of main(), and all later ones if FAILING_NEW_LASTS is
// set.
#include "common/failing_new.hpp"

#include <dlfcn.h>

namespace {

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int counted_main(int argc, char** argv, char** environment) {
    char const* const number = std::getenv("FAILING_NEW");
    failing_new::keeps_failing = std::getenv("FAILING_NEW_LASTS") != nullptr;
    failing_new::countdown = number ? std::atol(number) : -1;
    int const code = real_main(argc, argv, environment);
    failing_new::countdown = -1;
    return code;
}

} // namespace

extern "C" int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                                 void (*rtld_fini)(), void* stack_end) {
    real_main = main;
    auto const next = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
    return next(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}
