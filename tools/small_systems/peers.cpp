#include "peers.hpp"

#include <dlfcn.h>
#include <klu.h>

#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "core/error.hpp"
#include "espalier/espalier.hpp"

namespace espalier::small_systems {

namespace {

class Ours : public SmallSolver {
  public:
    Ours(CscMatrix<double> const& a, bool is_definite) : a_(a), is_definite_(is_definite) { release(); }

    void analyze() override { solver_->analyze(a_); }
    void factorize() override { solver_->factorize(a_); }
    void refactorize(std::vector<double> const& values) override {
        a_.values = values;
        solver_->factorize(a_);
    }
    void solve(std::vector<double>& x) override { solver_->solve_in_place(x, std::ssize(x) / a_.cols); }
    void release() override {
        Options options;
        options.threads = 1;
        if (is_definite_) options.factorization = Factorization::llh;
        solver_ = std::make_unique<Solver<double>>(options);
    }
    [[nodiscard]] std::string path() const override {
        Report const& report = solver_->report();
        return fmt::format("{} {}", to_string(report.factorization), report.factor_path);
    }

  private:
    CscMatrix<double> a_;
    bool is_definite_;
    std::unique_ptr<Solver<double>> solver_;
};

class Klu : public SmallSolver {
  public:
    explicit Klu(CscMatrix<double> const& a)
        : ptr_(a.col_ptr.begin(), a.col_ptr.end()), ind_(a.row_ind.begin(), a.row_ind.end()),
          values_(a.values) {
        klu_defaults(&common_);
    }
    ~Klu() override { release_all(); }

    void analyze() override {
        symbolic_ = klu_analyze(static_cast<int>(ptr_.size() - 1), ptr_.data(), ind_.data(), &common_);
        require(symbolic_ != nullptr);
    }
    void factorize() override {
        numeric_ = klu_factor(ptr_.data(), ind_.data(), values_.data(), symbolic_, &common_);
        require(numeric_ != nullptr);
    }
    void refactorize(std::vector<double> const& values) override {
        values_ = values;
        require(klu_refactor(ptr_.data(), ind_.data(), values_.data(), symbolic_, numeric_, &common_) != 0);
    }
    void solve(std::vector<double>& x) override {
        int const n = static_cast<int>(ptr_.size() - 1), columns = static_cast<int>(x.size()) / n;
        require(klu_solve(symbolic_, numeric_, n, columns, x.data(), &common_) != 0);
    }
    void release() override { release_all(); }

  private:
    void release_all() {
        if (numeric_) klu_free_numeric(&numeric_, &common_);
        if (symbolic_) klu_free_symbolic(&symbolic_, &common_);
    }
    void require(bool holds) const {
        if (!holds) throw Error(Status::internal, fmt::format("KLU returned status {}", common_.status));
    }

    std::vector<int> ptr_, ind_;
    std::vector<double> values_;
    klu_common common_{};
    klu_symbolic* symbolic_ = nullptr;
    klu_numeric* numeric_ = nullptr;
};

class Pardiso : public SmallSolver {
  public:
    // Its rows are the columns here: of symmetric matrices the upper triangle, of others the transpose.
    Pardiso(CscMatrix<double> const& a, bool is_definite, std::string const& library)
        : type_(a.symmetry == Symmetry::general ? 11
                : is_definite                   ? 2
                                                : -2),
          ptr_(a.col_ptr.begin(), a.col_ptr.end()), ind_(a.row_ind.begin(), a.row_ind.end()),
          values_(a.values), solution_(a.cols) {
        setenv("MKL_THREADING_LAYER", "SEQUENTIAL", 0);
        setenv("MKL_INTERFACE_LAYER", "LP64", 0);
        void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (!handle) throw Error(Status::io_error, dlerror());
        run_ = reinterpret_cast<Run>(dlsym(handle, "pardiso"));
        if (!run_) throw Error(Status::io_error, fmt::format("{} has no function pardiso", library));
        settings_[0] = 1;
        settings_[1] = 2;                                   // METIS
        settings_[9] = type_ == 11 ? 13 : 8;                // small pivots
        settings_[10] = settings_[12] = type_ == 2 ? 0 : 1; // scaling and matching
        settings_[11] = type_ == 11 ? 2 : 0;                // solves with the transpose
        settings_[34] = 1;                                  // counts from 0
    }
    ~Pardiso() override {
        try {
            phase(-1);
        } catch (Error const&) {
        }
    }

    void analyze() override { phase(11); }
    void factorize() override { phase(22); }
    void refactorize(std::vector<double> const& values) override {
        values_ = values;
        phase(22);
    }
    void solve(std::vector<double>& x) override {
        solution_.resize(x.size());
        phase(33, x.data(), static_cast<int>(x.size() / (ptr_.size() - 1)));
        x.swap(solution_);
    }
    void release() override { phase(-1); }

  private:
    using Run = void (*)(void**, int const*, int const*, int const*, int const*, int const*, void const*,
                         int const*, int const*, int*, int const*, int*, int const*, void*, void*, int*);

    void phase(int number, double* x = nullptr, int columns = 1) {
        int const one = 1, zero = 0, n = static_cast<int>(ptr_.size() - 1);
        int error = 0;
        run_(handle_.data(), &one, &one, &type_, &number, &n, values_.data(), ptr_.data(), ind_.data(),
             nullptr, &columns, settings_.data(), &zero, x, solution_.data(), &error);
        if (error != 0)
            throw Error(Status::internal, fmt::format("PARDISO returned {} in phase {}", error, number));
    }

    int type_;
    std::vector<int> ptr_, ind_;
    std::vector<double> values_, solution_;
    std::array<int, 64> settings_{};
    std::array<void*, 64> handle_{};
    Run run_ = nullptr;
};

} // namespace

std::unique_ptr<SmallSolver> espalier_solver(CscMatrix<double> const& a, bool is_definite) {
    return std::make_unique<Ours>(a, is_definite);
}

std::unique_ptr<SmallSolver> klu_solver(CscMatrix<double> const& a) {
    return std::make_unique<Klu>(a);
}

std::unique_ptr<SmallSolver> pardiso_solver(CscMatrix<double> const& a, bool is_definite,
                                            std::string const& library) {
    return std::make_unique<Pardiso>(a, is_definite, library);
}

} // namespace espalier::small_systems
