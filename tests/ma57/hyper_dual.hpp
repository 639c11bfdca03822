// Hyper-dual numbers (Fike, Alonso 2011): functions of them have exact first and second derivatives.
#pragma once

#include <cmath>

/// value + first * e1 + other * e2 + second * e1 e2 with e1^2 = e2^2 = 0.
struct HyperDual {
    double value = 0, first = 0, other = 0, second = 0;
    HyperDual(double v = 0) : value(v) {} // NOLINT: numbers are constants
    HyperDual(double v, double a, double b, double c) : value(v), first(a), other(b), second(c) {}
};

/// f(x) from f, f' and f'' at x.value.
inline HyperDual chain(HyperDual const& x, double f, double df, double ddf) {
    return {f, df * x.first, df * x.other, df * x.second + ddf * x.first * x.other};
}
inline HyperDual operator+(HyperDual const& a, HyperDual const& b) {
    return {a.value + b.value, a.first + b.first, a.other + b.other, a.second + b.second};
}
inline HyperDual operator-(HyperDual const& a, HyperDual const& b) {
    return {a.value - b.value, a.first - b.first, a.other - b.other, a.second - b.second};
}
inline HyperDual operator*(HyperDual const& a, HyperDual const& b) {
    return {a.value * b.value, a.first * b.value + a.value * b.first, a.other * b.value + a.value * b.other,
            a.second * b.value + a.first * b.other + a.other * b.first + a.value * b.second};
}
inline HyperDual& operator+=(HyperDual& a, HyperDual const& b) {
    return a = a + b;
}
inline HyperDual log(HyperDual const& x) {
    return chain(x, std::log(x.value), 1 / x.value, -1 / (x.value * x.value));
}
inline HyperDual power(HyperDual const& x, int k) {
    double const p = std::pow(x.value, k - 2);
    return k == 1 ? x : chain(x, p * x.value * x.value, k * p * x.value, k * (k - 1) * p);
}
