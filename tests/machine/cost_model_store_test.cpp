#include <cmath>
#include <cstdlib>

#include "common/mutations.hpp"
#include "io/reading.hpp"
#include "machine/calibrate.hpp"

namespace espalier {
namespace {

using reading::content_of;

class CostModelStoreTest : public ::testing::Test {
  protected:
    [[nodiscard]] CostModelStore store() const { return {deep_, key_}; }

    reading::TemporaryDirectory folder_;
    std::string deep_ = folder_.file("deep/er");
    MachineKey key_{"a \"fast\" CPU\t", 4, "BLAS 1\\2", "Core", "0.1"};
};

MeasuredModel model_of(Scalar scalar, KernelKind kind, double flop) {
    MeasuredModel model;
    model.scalar = scalar;
    model.calibration.model = default_cost_model(scalar, kind);
    model.calibration.model.update_seconds[UpdateTerm::flop] = flop;
    model.calibration.update = {0.125, -0.0625};
    model.contention = {{2, 1.5}, {4, 2.5}};
    return model;
}

MachineCosts some_costs() {
    MachineCosts costs;
    costs.memory = {1.5e10, 2.5e10, 1.25e10, 2e10, 3e9};
    costs.put(model_of(Scalar::d, KernelKind::cholesky, 1e-11 / 3));
    costs.put(model_of(Scalar::z, KernelKind::lu, 2e-11));
    return costs;
}

TEST_F(CostModelStoreTest, LoadsEveryBitThatWasStored) {
    EXPECT_FALSE(store().load());
    ASSERT_TRUE(store().save(some_costs()));
    auto const loaded = store().load();
    ASSERT_TRUE(loaded);
    EXPECT_EQ(to_json(*loaded, key_), to_json(some_costs(), key_));
    MeasuredModel const* const model = loaded->find(Scalar::d, KernelKind::cholesky);
    ASSERT_NE(model, nullptr);
    EXPECT_EQ(model->calibration.model.update_seconds[UpdateTerm::flop], 1e-11 / 3);
    EXPECT_EQ(loaded->memory.one, 1.5e10);
    EXPECT_EQ(loaded->memory.read_all, 2e10);
    EXPECT_EQ(loaded->memory.first_touch, 3e9);
    EXPECT_EQ(model->contention, some_costs().models[0].contention);
    EXPECT_EQ(loaded->find(Scalar::d, KernelKind::lu), nullptr);
    EXPECT_NE(content_of(store().path()).find("\"source\": \"default\""), std::string::npos);
}

TEST_F(CostModelStoreTest, KeepsAMeasuredNetwork) {
    MachineCosts costs = some_costs();
    EXPECT_FALSE(parse_costs(to_json(costs, key_), key_)->network);
    costs.network = {3e-5, 1e9 / 8};
    auto const loaded = parse_costs(to_json(costs, key_), key_);
    ASSERT_TRUE(loaded && loaded->network);
    EXPECT_EQ(loaded->network->latency, 3e-5);
    EXPECT_EQ(loaded->network->bandwidth, 1e9 / 8);
}

TEST_F(CostModelStoreTest, IgnoresAFileThatIsDamagedOrCutOff) {
    ASSERT_TRUE(store().save(some_costs()));
    std::string const whole = content_of(store().path());
    for (std::size_t length = 0; length + 1 < whole.size(); length += 7)
        EXPECT_FALSE(parse_costs(whole.substr(0, length), key_)) << length;
    // A changed byte makes the file invalid, or leaves values in range; it never crashes.
    for (std::size_t at = 0; at < whole.size(); at += 3)
        for (char const byte : {'\0', '-', '9', '"', '}'}) {
            std::string damaged = whole;
            damaged[at] = byte;
            auto const costs = parse_costs(damaged, key_);
            for (MeasuredModel const& model : costs ? costs->models : std::vector<MeasuredModel>())
                for (double const seconds : model.calibration.model.update_seconds.value)
                    ASSERT_TRUE(seconds >= 0 && seconds <= 1);
        }
    std::ofstream(store().path()) << "no json";
    EXPECT_FALSE(store().load());
    ASSERT_TRUE(store().save(some_costs()));
    EXPECT_TRUE(store().load());
}

TEST_F(CostModelStoreTest, SurvivesAnyChange) {
    int const ignored =
        test::refused_mutations(to_json(some_costs(), key_), [this](std::string const& changed) {
            auto const costs = parse_costs(changed, key_);
            if (!costs) throw Error(Status::bad_input, "ignored");
            for (MeasuredModel const& model : costs->models)
                for (int const threads : {1, 2, 3, 4})
                    if (auto const known = model.for_threads(threads, 4)) {
                        double const seconds = known->panel(10, 5);
                        EXPECT_TRUE(std::isfinite(seconds) && seconds >= 0) << seconds;
                    }
        });
    EXPECT_GT(ignored, 0);
}

TEST_F(CostModelStoreTest, KeepsAFileForEachMachineBlasAndVersion) {
    ASSERT_TRUE(store().save(some_costs()));
    std::string const text = content_of(store().path());
    for (int field = 0; field < 5; ++field) {
        MachineKey other = key_;
        std::string* const texts[] = {&other.cpu, &other.blas, &other.blas_core, &other.version};
        if (field < 4)
            *texts[field] += "'";
        else
            other.cores = 8;
        EXPECT_FALSE(parse_costs(text, other));
        CostModelStore const another(deep_, other);
        EXPECT_NE(another.path(), store().path());
        EXPECT_FALSE(another.load());
    }
}

TEST_F(CostModelStoreTest, ReportsFailureWithoutAnErrorIfNothingCanBeWritten) {
    EXPECT_FALSE(CostModelStore("", key_).save(some_costs()));
    EXPECT_FALSE(CostModelStore("", key_).load());
    CostModelStore const below_a_file(folder_.write("file", "x") + "/sub", key_);
    EXPECT_FALSE(below_a_file.save(some_costs()));
    EXPECT_FALSE(below_a_file.load());
}

TEST_F(CostModelStoreTest, LeavesAWholeFileIfSeveralThreadsWriteAtOnce) {
    std::vector<std::jthread> writers;
    for (int w = 0; w < 4; ++w)
        writers.emplace_back([this] {
            for (int turn = 0; turn < 10; ++turn) {
                store().save(some_costs());
                EXPECT_TRUE(store().load());
            }
        });
    writers.clear();
    auto const files = std::distance(std::filesystem::directory_iterator(deep_), {});
    EXPECT_EQ(files, 1); // no temporary file is left
}

TEST(MeasuredModel, InterpolatesContentionAndSharesCores) {
    MeasuredModel const model = model_of(Scalar::d, KernelKind::cholesky, 1e-11);
    EXPECT_EQ(model.for_threads(1, 4)->contention, 1);
    EXPECT_EQ(model.for_threads(2, 4)->contention, 1.5);
    EXPECT_EQ(model.for_threads(3, 4)->contention, 2);
    EXPECT_EQ(model.for_threads(4, 4)->contention, 2.5);
    EXPECT_EQ(model.for_threads(8, 4)->contention, 2.5);
    EXPECT_EQ(model.for_threads(8, 4)->threads_per_core, 2);
    EXPECT_FALSE(model.for_threads(5, 8)); // never measured
}

TEST(MachineCosts, KeepsKnownContentionOfOtherThreadCounts) {
    MachineCosts costs = some_costs();
    MeasuredModel fresh = model_of(Scalar::d, KernelKind::cholesky, 3e-11);
    fresh.contention = {{3, 7.0}, {4, 8.0}};
    costs.put(fresh);
    ASSERT_EQ(costs.models.size(), 2U);
    EXPECT_EQ(costs.models[0].calibration.model.update_seconds[UpdateTerm::flop], 3e-11);
    EXPECT_EQ(costs.models[0].contention,
              (std::vector<std::pair<int, double>>{{2, 1.5}, {3, 7.0}, {4, 8.0}}));
}

TEST_F(CostModelStoreTest, MeasuresOnceAndRemembers) {
    TimingOptions const quick{0.002, nullptr};
    CostModels first(store(), 2, quick);
    EXPECT_STREQ(first.choose(Scalar::d, Factorization::llh, 2, Measuring::never, nullptr).source, "default");
    EXPECT_STREQ(first.choose(Scalar::d, Factorization::llh, 2, Measuring::if_unknown, nullptr).source,
                 "calibrated");
    auto const again = first.choose(Scalar::d, Factorization::llt, 2, Measuring::if_unknown, nullptr);
    EXPECT_STREQ(again.source, "cached");
    EXPECT_STREQ(first.choose(Scalar::d, Factorization::llh, 2, Measuring::always, nullptr).source,
                 "calibrated");

    CostModels later(store(), 2, quick); // as another process would
    EXPECT_STREQ(later.choose(Scalar::d, Factorization::llh, 2, Measuring::never, nullptr).source, "cached");
    auto const cached = later.choose(Scalar::d, Factorization::llh, 6, Measuring::if_unknown, nullptr);
    EXPECT_STREQ(cached.source, "cached");
    EXPECT_EQ(cached.model.threads_per_core, 3);
    EXPECT_STREQ(later.choose(Scalar::s, Factorization::lu, 1, Measuring::if_unknown, nullptr).source,
                 "calibrated");
    auto const stored = store().load();
    ASSERT_TRUE(stored);
    EXPECT_NE(stored->find(Scalar::d, KernelKind::cholesky), nullptr);
    EXPECT_NE(stored->find(Scalar::s, KernelKind::lu), nullptr);

    CostModels without_folder(CostModelStore("", key_), 1, quick);
    EXPECT_STREQ(
        without_folder.choose(Scalar::d, Factorization::llh, 1, Measuring::if_unknown, nullptr).source,
        "calibrated");
    EXPECT_STREQ(
        without_folder.choose(Scalar::d, Factorization::llh, 1, Measuring::if_unknown, nullptr).source,
        "cached");
}

TEST_F(CostModelStoreTest, CanBeCancelledWhileMeasuring) {
    CostModels models(store(), 2, {100, nullptr});
    Interrupt interrupt;
    interrupt.request();
    EXPECT_THROW(models.choose(Scalar::d, Factorization::llh, 2, Measuring::if_unknown, &interrupt), Error);
    EXPECT_FALSE(store().load());
}

TEST(CostModelFor, ReadsTheEnvironmentOnlyIfTheOptionIsAutomatic) {
    setenv("ESPALIER_CALIBRATION", "off", 1);
    EXPECT_STREQ(cost_model_for(Scalar::d, Factorization::lu, 1, 1, Toggle::automatic, true, nullptr).source,
                 "default");
    setenv("ESPALIER_CALIBRATION", "sometimes", 1);
    EXPECT_TRUE(throws_error(Status::usage, "ESPALIER_CALIBRATION is 'sometimes'", [] {
        cost_model_for(Scalar::d, Factorization::lu, 1, 1, Toggle::automatic, true, nullptr);
    }));
    EXPECT_STREQ(cost_model_for(Scalar::d, Factorization::lu, 1, 1, Toggle::off, true, nullptr).source,
                 "default");
    setenv("ESPALIER_CALIBRATION", "off", 1); // for the other tests
}

TEST(CostModelFolder, FollowsTheXdgSpecification) {
    setenv("XDG_CACHE_HOME", "/some/cache", 1);
    EXPECT_EQ(CostModelStore::default_folder(), "/some/cache/espalier");
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/home/someone", 1);
    EXPECT_EQ(CostModelStore::default_folder(), "/home/someone/.cache/espalier");
    unsetenv("HOME");
    EXPECT_EQ(CostModelStore::default_folder(), "");
}

} // namespace
} // namespace espalier
