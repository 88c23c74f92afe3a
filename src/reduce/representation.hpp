// What one element of each type looks like in memory. Plain data only: these are seen by units that are
// compiled for different instruction sets, so nothing here may have a function body.
#pragma once

namespace espalier::reduce {

// GCC 12 knows _Float16 in C++ on x86 only; on ARM the storage type __fp16 serves, arithmetic is in float
// either way.
#if defined(__x86_64__) && defined(__FLT16_MANT_DIG__)
#define ESPALIER_HAS_FLOAT16 1
using Float16 = _Float16;
#elif defined(__ARM_FP16_FORMAT_IEEE)
#define ESPALIER_HAS_FLOAT16 1
using Float16 = __fp16;
#else
#define ESPALIER_HAS_FLOAT16 0
#endif

#if defined(__SIZEOF_FLOAT128__)
#define ESPALIER_HAS_FLOAT128 1
using Float128 = __float128;
#elif __LDBL_MANT_DIG__ == 113
#define ESPALIER_HAS_FLOAT128 1
using Float128 = long double;
#else
#define ESPALIER_HAS_FLOAT128 0
#endif

#if defined(__SIZEOF_INT128__)
#define ESPALIER_HAS_INT128 1
using Int128 = __int128;
using Uint128 = unsigned __int128;
#else
#define ESPALIER_HAS_INT128 0
#endif

template <class Part>
struct Complex {
  Part real, imaginary;
};

// MPI_FLOAT_INT and the like: a C struct with the padding C gives it.
template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};

}  // namespace espalier::reduce
