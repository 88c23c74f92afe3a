// The kernels that gain from AVX2, which is taken to come with F16C. Compiled with the flags in flags.cmake.
#if defined(__x86_64__)

#if !defined(__AVX2__) || !defined(__F16C__)
#error "this unit needs -mavx2 -mf16c: include src/reduce/flags.cmake where the library is declared"
#endif

#define ESPALIER_ISA avx2
#define ESPALIER_ISA_IS_BASELINE 0
#include "reduce/catalogue.hpp"

#endif
