// Vectors and matrices for the compiled kernels: where the numbers lie, and how many there are.
//
// A Vector or a Matrix looks at memory of somebody else, a NewVector or a NewMatrix has its own,
// which is shared by its copies and given back with the last of them. Indices are checked only
// where the package is built with EIGENSIEVE_CHECK_BOUNDS=1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>

namespace eigensieve {

using Index = std::ptrdiff_t;
static_assert(sizeof(Index) == 8, "eigensieve needs a 64-bit system: indices are those of np.int64");

#ifdef EIGENSIEVE_CHECK_BOUNDS
inline void check(bool holds) {
    if (!holds) throw std::out_of_range("an index of a kernel is out of bounds");
}
#else
inline void check(bool) {}
#endif

// Memory is asked for in bytes that can be counted: what cannot be had is a MemoryError.
template <class T>
std::shared_ptr<T[]> allocate(Index rows, Index columns) {
    if (rows < 0 || columns < 0 || (columns && rows > PTRDIFF_MAX / Index(sizeof(T)) / columns))
        throw std::bad_alloc();
    return std::shared_ptr<T[]>(new T[rows * columns]);
}

template <class T>
struct Vector {
    T *data = nullptr;
    Index size = 0;

    Vector() = default;
    Vector(T *data, Index size) : data(data), size(size) {}

    T &operator[](Index i) const {
        check(0 <= i && i < size);
        return data[i];
    }
    Vector part(Index start, Index stop) const {
        check(0 <= start && start <= stop && stop <= size);
        return {data + start, stop - start};
    }
    void fill(T value) const { std::fill(data, data + size, value); }
    void assign(Vector other) const {  // the numbers of another, as many
        check(size == other.size);
        std::copy(other.data, other.data + other.size, data);
    }
};

// A flag that another thread may raise meanwhile: it is read anew every time.
inline bool is_raised(Vector<signed char> flag) {
    check(flag.size > 0);
    return *static_cast<const volatile signed char *>(flag.data);
}

template <class T>
struct Matrix {
    T *data = nullptr;
    Index rows = 0, columns = 0, stride = 0;

    Matrix() = default;
    Matrix(T *data, Index rows, Index columns)
        : data(data), rows(rows), columns(columns), stride(columns) {}

    Vector<T> operator[](Index i) const {
        check(0 <= i && i < rows);
        return {data + i * stride, columns};
    }
    Matrix part(Index start, Index stop) const {  // some of the rows
        check(0 <= start && start <= stop && stop <= rows);
        Matrix some = *this;
        some.data += start * stride;
        some.rows = stop - start;
        return some;
    }
    Matrix across(Index start, Index stop) const {  // some of the columns
        check(0 <= start && start <= stop && stop <= columns);
        Matrix some = *this;
        some.data += start;
        some.columns = stop - start;
        return some;
    }
    // of matrices that lie one below the other, each with so many rows
    Matrix layer(Index place, Index height) const {
        return part(place * height, (place + 1) * height);
    }
    void fill(T value) const {
        for (Index i = 0; i < rows; ++i) (*this)[i].fill(value);
    }
    void assign(Matrix other) const {
        check(rows == other.rows && columns == other.columns);
        for (Index i = 0; i < rows; ++i) (*this)[i].assign(other[i]);
    }
};

template <class T>
struct NewVector : Vector<T> {
    std::shared_ptr<T[]> memory;

    NewVector() = default;
    explicit NewVector(Index size) : memory(allocate<T>(size, 1)) {  // not initialised
        this->data = memory.get();
        this->size = size;
    }
    NewVector(Index size, T value) : NewVector(size) { this->fill(value); }
};

template <class T>
struct NewMatrix : Matrix<T> {
    std::shared_ptr<T[]> memory;

    NewMatrix() = default;
    NewMatrix(Index rows, Index columns) : memory(allocate<T>(rows, columns)) {
        static_cast<Matrix<T> &>(*this) = Matrix<T>(memory.get(), rows, columns);
    }
    NewMatrix(Index rows, Index columns, T value) : NewMatrix(rows, columns) { this->fill(value); }
};

template <class T>
NewVector<T> copy_of(Vector<T> x) {
    NewVector<T> y(x.size);
    y.assign(x);
    return y;
}

template <class T>
NewMatrix<T> copy_of(Matrix<T> M) {
    NewMatrix<T> N(M.rows, M.columns);
    N.assign(M);
    return N;
}

template <class T>
NewVector<T> pick(Vector<T> x, Vector<Index> places) {
    NewVector<T> y(places.size);
    for (Index i = 0; i < places.size; ++i) y[i] = x[places[i]];
    return y;
}

template <class T>
NewVector<T> join(Vector<T> first, Vector<T> second) {
    NewVector<T> both(first.size + second.size);
    both.part(0, first.size).assign(first);
    both.part(first.size, both.size).assign(second);
    return both;
}

// The places where x has a value.
template <class T>
NewVector<Index> where(Vector<T> x, T value) {
    Index count = std::count(x.data, x.data + x.size, value), place = 0;
    NewVector<Index> places(count);
    for (Index i = 0; i < x.size; ++i)
        if (x[i] == value) places[place++] = i;
    return places;
}

// NaN comes last, as in NumPy: without an order of all values a sort may leave its memory.
// (An object, not a function: sorts call that by its address, several times slower.)
inline constexpr auto comes_first = [](double a, double b) { return a < b || (b != b && a == a); };

inline NewVector<double> sorted(Vector<double> x) {
    NewVector<double> y = copy_of(x);
    std::sort(y.data, y.data + y.size, comes_first);
    return y;
}

// The largest values of x, so many of them, in ascending order.
inline NewVector<double> upper_values(Vector<double> x, Index count) {
    check(0 < count && count <= x.size);
    NewVector<double> y = copy_of(x), tail(count);
    double *end = y.data + y.size, *start = end - count;
    std::nth_element(y.data, start, end, comes_first);
    std::sort(start, end, comes_first);
    tail.assign({start, count});
    return tail;
}

// The value that would stand at a place if x were sorted.
inline double value_at_rank(Vector<double> x, Index place) {
    check(0 <= place && place < x.size);
    NewVector<double> y = copy_of(x);
    std::nth_element(y.data, y.data + place, y.data + y.size, comes_first);
    return y[place];
}

// The places of the largest values of x, in descending order; among equals the first.
inline NewVector<Index> largest(Vector<double> x, Index count) {
    check(0 <= count && count <= x.size);
    NewVector<Index> order(x.size);
    std::iota(order.data, order.data + order.size, Index(0));
    std::partial_sort(order.data, order.data + count, order.data + order.size,
                      [x](Index a, Index b) {
                          if (comes_first(-x.data[a], -x.data[b])) return true;
                          return a < b && !comes_first(-x.data[b], -x.data[a]);
                      });
    return order;
}

// The places of x from its largest value to its smallest; among equals the first.
inline NewVector<Index> descending(Vector<double> x) { return largest(x, x.size); }

// The first place of the largest value; of a NaN, if there is one.
inline Index argmax(Vector<double> x) {
    check(x.size > 0);
    Index best = 0;
    for (Index i = 0; i < x.size && x[best] == x[best]; ++i)
        if (!(x[i] <= x[best])) best = i;
    return best;
}

// Long loops run on four numbers at a time where the CPU can, which is found out when the module is
// loaded (x86-64 with glibc); a fused multiply-add is no choice, so the numbers are the same.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define EIGENSIEVE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define EIGENSIEVE_WIDE
#endif

// y -= a x, which do not overlap
EIGENSIEVE_WIDE static void subtract(Vector<double> y, double a, Vector<double> x) {
    check(y.size == x.size);
    double *__restrict out = y.data;
    for (Index i = 0; i < y.size; ++i) out[i] -= a * x.data[i];
}

// y += a[0] M[0] + a[1] M[1] + a[2] M[2] + a[3] M[3]
EIGENSIEVE_WIDE static void add_four_rows(Vector<double> y, Vector<double> a, Matrix<double> M) {
    check(M.rows == 4 && a.size == 4 && M.columns == y.size);
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const double *x0 = M[0].data, *x1 = M[1].data, *x2 = M[2].data, *x3 = M[3].data;
    double *__restrict out = y.data;
    for (Index i = 0; i < y.size; ++i)
        out[i] += a0 * x0[i] + a1 * x1[i] + a2 * x2[i] + a3 * x3[i];
}

inline double sum(Vector<double> x) {
    double total = 0.0;
    for (Index i = 0; i < x.size; ++i) total += x[i];
    return total;
}

inline Index sum(Vector<Index> x) { return std::accumulate(x.data, x.data + x.size, Index(0)); }

inline void fail(const char *why) { throw std::domain_error(why); }

}  // namespace eigensieve
