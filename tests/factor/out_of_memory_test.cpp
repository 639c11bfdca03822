// Each allocation of a worker team and a factorization fails once, alone and with all later ones: an
// exception is thrown, no thread keeps running, and the objects can be used again. This file replaces
// operator new for its whole program.

#include <cstdlib>
#include <new>

#include "core/run_threads.hpp"
#include "support.hpp"

namespace {

std::atomic<long> allocations{-1}; // counted since set to 0; negative while switched off
std::atomic<long> first_failure{0}, last_failure{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
    if (allocations.load(std::memory_order_relaxed) >= 0) {
        long const number = allocations.fetch_add(1, std::memory_order_relaxed);
        if (number >= first_failure && number <= last_failure) throw std::bad_alloc();
    }
    std::size_t const wanted = bytes == 0 ? 1 : bytes;
    void* const memory =
        alignment <= alignof(std::max_align_t)
            ? std::malloc(wanted)
            : std::aligned_alloc(alignment, (wanted + alignment - 1) / alignment * alignment);
    if (!memory) throw std::bad_alloc();
    return memory;
}

// Not inlined, or GCC warns that memory from new is passed to free.
[[gnu::noinline]] void release(void* memory) noexcept {
    std::free(memory);
}

} // namespace

void* operator new(std::size_t bytes) {
    return allocate(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    try {
        return allocate(bytes, 1);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}
void* operator new(std::size_t bytes, std::align_val_t alignment, std::nothrow_t const&) noexcept {
    try {
        return allocate(bytes, static_cast<std::size_t>(alignment));
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept {
    release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    release(memory);
}
void operator delete(void* memory, std::nothrow_t const&) noexcept {
    release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    release(memory);
}

namespace espalier {
namespace {

using namespace testing;

// Calls body with allocations [first, last] failing; its exception must report that. Returns whether an
// allocation failed. (It need not throw, because streams of the standard library ignore a failure.)
template <class Body> bool fails(long first, long last, Body const& body) {
    first_failure = first;
    last_failure = last;
    allocations = 0;
    try {
        body();
    } catch (std::bad_alloc const&) {
    } catch (Error const& error) {
        EXPECT_EQ(error.status(), Status::out_of_memory) << error.what();
    }
    return allocations.exchange(-1) > first;
}

// Calls body twice for each allocation that it makes: with that one failing, and with all later ones failing
// too. Calls `use` after each of these calls.
template <class Body, class Use> void expect_survival(Body const& body, Use const& use) {
    constexpr long for_ever = 1'000'000'000;
    for (long const burst : {0L, for_ever}) {
        long number = 0;
        for (; fails(number, number + burst, body); ++number) {
            use();
            if (::testing::Test::HasFailure()) FAIL() << "allocation " << number << ", burst " << burst;
            ASSERT_LT(number, 10'000);
        }
        EXPECT_GT(number, 3);
    }
}

TEST(OutOfMemory, ParallelLoopsRunAllCallsWithFewerThreads) {
    std::atomic<int> calls{0};
    bool threw = false;
    expect_survival(
        [&] {
            calls = 0;
            threw = true;
            run_threads(4, [&](int) { ++calls; });
            threw = false;
        },
        [&] { EXPECT_EQ(calls, threw ? 0 : 4); });
}

TEST(OutOfMemory, LeavesNoThreadOfAnUnfinishedTeam) {
    auto const topology = Topology::detect();
    std::optional<WorkerTeam> team;
    expect_survival([&] { team.emplace(topology, 3); }, [&] { team.reset(); });
    int sum = 0;
    team->for_each_worker([&](WorkerId worker) {
        if (worker == 0) ++sum;
    });
    EXPECT_EQ(sum, 1);
}

template <class T> void expect_factorization_to_survive(CscMatrix<T> const& a, Factorization kind) {
    System<T> reference(a, kind, 2, {3, 4, 5}), system(a, kind, 2, {3, 4, 5});
    reference.factorize();
    system.factorize(); // so that later allocations find their memory there
    expect_survival([&] { system.factorize(); },
                    [&] {
                        system.factorize();
                        expect_equal_factors(system.factor, reference.factor);
                    });
}

TEST(OutOfMemory, EndsAFactorizationWhoseObjectsStayUsable) {
    expect_factorization_to_survive(real("lap2d:5"), Factorization::llh);
    expect_factorization_to_survive(shifted(real("lap2d:5"), 2.1), Factorization::ldlt);
    expect_factorization_to_survive(complex("helmholtz3d:3"), Factorization::lu);
}

TEST(OutOfMemory, EndsAnAllocationOfAFactorThatStaysUsable) {
    System<double> reference(real("lap2d:5"), Factorization::ldlt, 2),
        system(reference.matrix, reference.kind, 2);
    expect_survival(
        [&] {
            AssemblyMap const map(system.matrix, system.structure);
            system.factor = Factor<double>(system.structure);
            system.factor.allocate({system.kind}, system.plan.owner_of_cblk, Allocation::local, system.team);
        },
        [] {});
    reference.factorize();
    system.factorize();
    expect_equal_factors(system.factor, reference.factor);
}

} // namespace
} // namespace espalier
