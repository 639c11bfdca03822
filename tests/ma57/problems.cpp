#include "problems.hpp"

#include <limits>

namespace {

using X = std::vector<HyperDual>;
constexpr double none = 1e20; // Ipopt's infinity
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
double const root2 = std::sqrt(2.0), root3 = std::sqrt(3.0);

HyperDual square(HyperDual const& x) {
    return x * x;
}

// Van der Pol oscillator with bounded control u on 0 <= t <= 10, by the midpoint rule: x = (x0, x1, u) for
// each step.
Problem control(int steps) {
    int const n = 2 * (steps + 1) + steps, m = 2 * (steps + 1);
    Problem p{"control",
              std::vector<double>(n, 0),
              std::vector<double>(n, -none),
              std::vector<double>(n, none),
              std::vector<double>(m, 0),
              std::vector<double>(m, 0),
              {},
              unknown};
    for (int k = 0; k < steps; ++k) {
        p.x_lower[3 * k + 2] = -1;
        p.x_upper[3 * k + 2] = 1;
    }
    p.functions = [=](X const& x) {
        double const h = 10.0 / steps;
        X values(1 + m);
        values[1] = x[0];
        values[2] = x[1] - 1;
        for (int k = 0; k < steps; ++k) {
            HyperDual const &a = x[3 * k], &b = x[3 * k + 1], &u = x[3 * k + 2];
            HyperDual const a_middle = a + h / 2 * ((1 - b * b) * a - b + u), b_middle = b + h / 2 * a;
            values[3 + 2 * k] = x[3 * k + 3] - a - h * ((1 - square(b_middle)) * a_middle - b_middle + u);
            values[4 + 2 * k] = x[3 * k + 4] - b - h * a_middle;
            values[0] += h * (a * a + b * b + u * u);
        }
        return values;
    };
    return p;
}

} // namespace

std::vector<Problem> problems() {
    std::vector<Problem> all;
    auto const add = [&](Problem problem) { all.push_back(std::move(problem)); };
    add({"rosenbrock in a disk",
         {-1.2, 1},
         {},
         {},
         {-none},
         {1},
         [](X const& x) {
             return X{100 * square(x[1] - square(x[0])) + square(1 - x[0]), square(x[0]) + square(x[1])};
         },
         0.0456748087});
    add({"hs006",
         {-1.2, 1},
         {},
         {},
         {0},
         {0},
         [](X const& x) { return X{square(1 - x[0]), 10 * (x[1] - square(x[0]))}; },
         0});
    add({"hs007",
         {2, 2},
         {},
         {},
         {4},
         {4},
         [](X const& x) { return X{log(1 + square(x[0])) - x[1], square(1 + square(x[0])) + square(x[1])}; },
         -root3});
    add({"hs013",
         {-2, -2},
         {0, 0},
         {none, none},
         {0},
         {none},
         [](X const& x) { return X{square(x[0] - 2) + square(x[1]), power(1 - x[0], 3) - x[1]}; },
         unknown});
    add({"hs015",
         {-2, 1},
         {-none, -none},
         {0.5, none},
         {1, 0},
         {none, none},
         [](X const& x) {
             return X{100 * square(x[1] - square(x[0])) + square(1 - x[0]), x[0] * x[1], x[0] + square(x[1])};
         },
         306.5});
    add({"hs024",
         {1, 0.5},
         {0, 0},
         {none, none},
         {0, 0, 0},
         {none, none, none},
         [](X const& x) {
             return X{(square(x[0] - 3) - 9) * power(x[1], 3) * (1 / (27 * root3)), (1 / root3) * x[0] - x[1],
                      x[0] + root3 * x[1], 6 - x[0] - root3 * x[1]};
         },
         -1});
    add({"hs026",
         {-2.6, 2, 2},
         {},
         {},
         {3},
         {3},
         [](X const& x) {
             return X{square(x[0] - x[1]) + power(x[1] - x[2], 4),
                      (1 + square(x[1])) * x[0] + power(x[2], 4)};
         },
         0});
    add({"hs029",
         {1, 1, 1},
         {},
         {},
         {-none},
         {48},
         [](X const& x) {
             return X{-1 * x[0] * x[1] * x[2], square(x[0]) + 2 * square(x[1]) + 4 * square(x[2])};
         },
         -16 * root2});
    add({"hs032",
         {0.1, 0.7, 0.2},
         {0, 0, 0},
         {none, none, none},
         {3, 1},
         {none, 1},
         [](X const& x) {
             return X{square(x[0] + 3 * x[1] + x[2]) + 4 * square(x[0] - x[1]),
                      6 * x[1] + 4 * x[2] - power(x[0], 3), x[0] + x[1] + x[2]};
         },
         1});
    add({"hs043",
         {0, 0, 0, 0},
         {},
         {},
         {-none, -none, -none},
         {8, 10, 5},
         [](X const& x) {
             HyperDual const a = square(x[0]), b = square(x[1]), c = square(x[2]), d = square(x[3]);
             return X{a + b + 2 * c + d - 5 * x[0] - 5 * x[1] - 21 * x[2] + 7 * x[3],
                      a + b + c + d + x[0] - x[1] + x[2] - x[3], a + 2 * b + c + 2 * d - x[0] - x[3],
                      2 * a + b + c + 2 * x[0] - x[1] - x[3]};
         },
         -44});
    add({"hs071",
         {1, 5, 5, 1},
         {1, 1, 1, 1},
         {5, 5, 5, 5},
         {25, 40},
         {none, 40},
         [](X const& x) {
             return X{x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2], x[0] * x[1] * x[2] * x[3],
                      square(x[0]) + square(x[1]) + square(x[2]) + square(x[3])};
         },
         17.0140173});
    add({"hs079",
         {2, 2, 2, 2, 2},
         {},
         {},
         {2 + 3 * root2, 2 * root2 - 2, 2},
         {2 + 3 * root2, 2 * root2 - 2, 2},
         [](X const& x) {
             return X{square(x[0] - 1) + square(x[0] - x[1]) + square(x[1] - x[2]) + power(x[2] - x[3], 4) +
                          power(x[3] - x[4], 4),
                      x[0] + square(x[1]) + power(x[2], 3), x[1] - square(x[2]) + x[3], x[0] * x[4]};
         },
         0.0787768209});
    add({"hs100",
         {1, 2, 0, 4, 0, 1, 1},
         {},
         {},
         {-none, -none, -none, -none},
         {127, 282, 196, 0},
         [](X const& x) {
             return X{square(x[0] - 10) + 5 * square(x[1] - 12) + power(x[2], 4) + 3 * square(x[3] - 11) +
                          10 * power(x[4], 6) + 7 * square(x[5]) + power(x[6], 4) - 4 * x[5] * x[6] -
                          10 * x[5] - 8 * x[6],
                      2 * square(x[0]) + 3 * power(x[1], 4) + x[2] + 4 * square(x[3]) + 5 * x[4],
                      7 * x[0] + 3 * x[1] + 10 * square(x[2]) + x[3] - x[4],
                      23 * x[0] + square(x[1]) + 6 * square(x[5]) - 8 * x[6],
                      4 * square(x[0]) + square(x[1]) - 3 * x[0] * x[1] + 2 * square(x[2]) + 5 * x[5] -
                          11 * x[6]};
         },
         680.6300573});
    // The second constraint is twice the first one, so that all systems are singular without regularization.
    add({"dependent constraints",
         {2, 0, 1},
         {},
         {},
         {1, 2, 0.2},
         {1, 2, 0.2},
         [](X const& x) {
             return X{square(x[0] - 1) + square(x[1] - 1) + square(x[2] - 1), x[0] + x[1],
                      2 * x[0] + 2 * x[1], x[0] * x[2]};
         },
         0.6626236886,
         true});
    add(control(60));
    return all;
}
