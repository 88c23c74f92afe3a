// The kernels that gain from AVX-512 (F, BW, DQ, VL). Compiled with the flags in flags.cmake.
#if defined(__x86_64__)

#if !defined(__AVX512F__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__) || !defined(__AVX512VL__)
#error "this unit needs AVX-512 flags: include src/reduce/flags.cmake where the library is declared"
#endif

#define ESPALIER_ISA avx512
#define ESPALIER_ISA_IS_BASELINE 0
#include "reduce/catalogue.hpp"

#endif
