// Solves random systems in random ways and compares all results with a dense reference in long double
// (check_case.hpp).
//
//     fuzz_systems [--seed S] [--seconds T | --count N]     many cases; by default a random seed and 10
//     seconds fuzz_systems --case C                                 the one case that a failure has named
//
// A crash, and a case that takes more than a minute of processor time or ten minutes, end the program with
// the name of the case. The exit status is 0 if all results are right, 1 if one is wrong, and 2 for wrong
// arguments.
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <exception>

#include "core/mix_bits.hpp"
#include "fuzz/systems/check_case.hpp"

namespace {

using namespace espalier;

constexpr unsigned longest_case = 600, most_processor_time = 60; // seconds
std::uint64_t volatile current_case = 0;

extern "C" void name_case(int signal) {
    char text[100]; // printf may allocate
    int const size = std::snprintf(text, sizeof(text), "WRONG: signal %d in fuzz_systems --case %llu\n",
                                   signal, static_cast<unsigned long long>(current_case));
    (void)!write(STDOUT_FILENO, text, static_cast<std::size_t>(size));
    _exit(1);
}

template <class T> bool passes(std::uint64_t seed, bool is_alone, fuzz::Tally& tally) {
    std::optional<fuzz::Case<T>> one;
    try {
        one.emplace(seed);
        if (is_alone) std::printf("%s\n", one->description().c_str());
        one->run(tally);
        return true;
    } catch (std::exception const& wrong) {
        std::printf("WRONG: fuzz_systems --case %llu\n  %s\n  %s\n", static_cast<unsigned long long>(seed),
                    one ? one->description().c_str() : "", wrong.what());
        std::fflush(stdout);
        return false;
    }
}

bool passes(std::uint64_t seed, bool is_alone, fuzz::Tally& tally) {
    current_case = seed;
    ::alarm(longest_case);
    itimerval const limit{.it_interval = {}, .it_value = {.tv_sec = most_processor_time, .tv_usec = 0}};
    ::setitimer(ITIMER_PROF, &limit, nullptr);
    switch (seed % 4) {
    case 0:
        return passes<double>(seed, is_alone, tally);
    case 1:
        return passes<std::complex<double>>(seed, is_alone, tally);
    case 2:
        return passes<float>(seed, is_alone, tally);
    default:
        return passes<std::complex<float>>(seed, is_alone, tally);
    }
}

int usage() {
    std::fprintf(stderr, "usage: fuzz_systems [--seed S] [--seconds T | --count N] | --case C\n");
    return 2;
}

} // namespace

int main(int count_of_arguments, char** arguments) {
    for (int const signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGPROF})
        std::signal(signal, &name_case);
    std::uint64_t seed = std::random_device()();
    double seconds = 10;
    long count = -1;
    fuzz::Tally tally;
    for (int k = 1; k < count_of_arguments; k += 2) {
        std::string const name = arguments[k];
        if (k + 1 == count_of_arguments) return usage();
        char* end = nullptr;
        std::uint64_t const number = std::strtoull(arguments[k + 1], &end, 10);
        if (end == arguments[k + 1] || *end != '\0') return usage();
        if (name == "--case") return passes(number, true, tally) ? 0 : 1;
        if (name == "--seed")
            seed = number;
        else if (name == "--seconds")
            seconds = static_cast<double>(number);
        else if (name == "--count")
            count = static_cast<long>(number);
        else
            return usage();
    }
    std::printf("fuzz_systems --seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    auto const begin = std::chrono::steady_clock::now();
    auto const elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    long tried = 0, wrong = 0;
    for (; count >= 0 ? tried < count : elapsed() < seconds; ++tried)
        if (!passes(hash_bits(hash_bits(seed) + static_cast<std::uint64_t>(tried)) >> 16, false, tally) &&
            ++wrong == 20)
            break;
    std::printf("%ld cases in %.0f s: %ld systems solved, %ld inaccurate, %ld singular, %ld refused; %ld "
                "cases wrong\n",
                tried, elapsed(), tally.solved, tally.inaccurate, tally.singular, tally.refused, wrong);
    return wrong == 0 ? 0 : 1;
}
