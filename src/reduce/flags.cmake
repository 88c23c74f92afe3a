# How the units of src/reduce that hold kernels are compiled: the same text for each instruction set. Include
# this in the directory that declares the library (source properties are seen only there).
set(kernel_folder ${CMAKE_CURRENT_LIST_DIR})
# A fused multiply-add rounds once, not twice: results would depend on the CPU.
set(kernel_flags -ffp-contract=off)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  list(APPEND kernel_flags -O3)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  # No FMA where a set can be had without (catalogue.hpp says why), whatever -march the user asks for.
  set(plain ${kernel_flags} -march=x86-64)
  set(avx2 ${plain} -mavx2 -mf16c)
  set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
  set_source_files_properties(${kernel_folder}/baseline.cpp PROPERTIES COMPILE_OPTIONS
    "${plain};-mtune=generic")
  set_source_files_properties(${kernel_folder}/avx2.cpp PROPERTIES COMPILE_OPTIONS "${avx2};-mtune=haswell")
  set_source_files_properties(${kernel_folder}/avx512.cpp PROPERTIES COMPILE_OPTIONS
    "${avx512};-mtune=skylake-avx512")
else()
  set_source_files_properties(${kernel_folder}/baseline.cpp PROPERTIES COMPILE_OPTIONS "${kernel_flags}")
endif()
