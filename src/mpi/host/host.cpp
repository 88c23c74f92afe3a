#include "mpi/host/host.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "base/config.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "mpi/host/handles.hpp"

namespace espalier::mpi {

Host host;

namespace {

#if defined(ESPALIER_ABI_MPICH)
constexpr const char* this_abi = "mpich";
#elif defined(ESPALIER_ABI_OMPI)
constexpr const char* this_abi = "ompi";
#else
constexpr const char* this_abi = "abi";
#endif

std::mutex resolving;
std::atomic<Mode> mode{Mode::unresolved};
/// Where PMPI_X is found: the global scope, or the module that brought an RTLD_LOCAL MPI in.
void* scope = RTLD_DEFAULT;

void* module_of(void* address) {
  Dl_info info;
  if (!address || !dladdr(address, &info) || !info.dli_fname) return nullptr;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/// A tool between the program and us may not itself be linked with MPI: look through what is loaded.
int open_mpi_library(dl_phdr_info* info, std::size_t, void* found) {
  const char* slash = std::strrchr(info->dlpi_name, '/');
  if (std::strncmp(slash ? slash + 1 : info->dlpi_name, "libmpi", 6) != 0) return 0;
  void* library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!library || !dlsym(library, "PMPI_Init")) return 0;
  *static_cast<void**>(found) = library;
  return 1;
}

void find_scope(void* caller) {
  if (dlsym(RTLD_DEFAULT, "PMPI_Init")) return;
  void* module = module_of(caller);
  if (!module || !dlsym(module, "PMPI_Init")) {
    module = nullptr;
    dl_iterate_phdr(open_mpi_library, &module);
  }
  if (module) scope = module;
}

template <class Function>
void find(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(scope, name));
}

template <class Function>
void find(Function*& function, const char* name, const char* otherwise) {
  find(function, name);
  if (!function) find(function, otherwise);
}

template <class Function>
void find_next(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(next_function(name));
}

void find_next_functions() {
  find_next(host.next.Comm_revoke, "MPIX_Comm_revoke");
#define ESPALIER_FIND(name) find_next(host.next.name, "MPI_" #name);
  ESPALIER_NEXT_CALLS(ESPALIER_FIND)
  ESPALIER_NEXT_REQUEST_CALLS(ESPALIER_FIND)
  ESPALIER_ASK_CALLS(ESPALIER_FIND)
  ESPALIER_NEXT_WINDOW_CALLS(ESPALIER_FIND)
  ESPALIER_NEXT_MESSAGE_CALLS(ESPALIER_FIND)
#undef ESPALIER_FIND
#define ESPALIER_FIND(name) find_next(host.next.name##_init, "MPI_" #name "_init");
  ESPALIER_NEXT_INIT_CALLS(ESPALIER_FIND)
#undef ESPALIER_FIND
#define ESPALIER_FIND(name) find_next(host.next.name##_init_c, "MPI_" #name "_init_c");
  ESPALIER_NEXT_LARGE_INIT_CALLS(ESPALIER_FIND)
#undef ESPALIER_FIND
}

/// The name of the first function that this host lacks, or nullptr.
const char* find_own_functions() {
  const char* missing = nullptr;
#define ESPALIER_FIND(name)       \
  find(host.name, "PMPI_" #name); \
  if (!host.name) missing = "PMPI_" #name;
  ESPALIER_HOST_CALLS(ESPALIER_FIND)
#undef ESPALIER_FIND
#define ESPALIER_FIND(name) find(host.name, "PMPI_" #name);
  ESPALIER_HOST_OPTIONAL_CALLS(ESPALIER_FIND)
  ESPALIER_HOST_LARGE_CALLS(ESPALIER_FIND)
  ESPALIER_HOST_WINDOW_CALLS(ESPALIER_FIND)
#undef ESPALIER_FIND
#define ESPALIER_FIND(name) find(host.again.name, "PMPI_" #name);
  ESPALIER_ASK_CALLS(ESPALIER_FIND)
#undef ESPALIER_FIND
  find(host.Comm_is_revoked, "PMPIX_Comm_is_revoked");
  find(host.Win_create_notify, "PMPIX_Win_create_notify");
  find(host.Win_free_notify, "PMPIX_Win_free_notify");
  find(host.Win_get_notify, "PMPIX_Win_get_notify");
  find(host.Win_set_notify, "PMPIX_Win_set_notify");
  find(host.Put_notify, "PMPIX_Put_notify");
  find(host.Type_size, "PMPI_Type_size_c", "PMPI_Type_size_x");
  find(host.Type_get_extent, "PMPI_Type_get_extent_c", "PMPI_Type_get_extent_x");
  find(host.Type_get_true_extent, "PMPI_Type_get_true_extent_c", "PMPI_Type_get_true_extent_x");
  if (!host.Type_size || !host.Type_get_extent || !host.Type_get_true_extent) missing = "PMPI_Type_size_x";
  return missing;
}

void find_constants() {
  host.constants = {MPI_COMM_WORLD, MPI_COMM_SELF,     MPI_COMM_NULL, MPI_DATATYPE_NULL,
                    MPI_BYTE,       MPI_INT,           MPI_OP_NULL,   MPI_REPLACE,
                    MPI_SUM,        MPI_ERRORS_RETURN, MPI_UINT64_T,  MPI_INFO_NULL};
}

/// Works before MPI_Init: a library of the standard ABI says version 1 or later, MPICH and Intel's classic
/// ones say -1 or lack the function, Open MPI has its handles as data.
const char* abi_of_host() {
  int (*version)(int*, int*) = nullptr;
  find(version, "PMPI_Abi_get_version");
  int major = -1, minor = -1;
  if (version && version(&major, &minor) == 0 && major >= 1) return "abi";
  return host_data("ompi_mpi_comm_world") ? "ompi" : "mpich";
}

}  // namespace

bool host_has_this_abi() { return std::strcmp(abi_of_host(), this_abi) == 0; }

namespace {

/// Every process would print the same: only the first does, where the launcher says which that is.
bool is_first_process() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (const char* rank = std::getenv(name)) return std::strcmp(rank, "0") == 0;
  return true;
}

void warn(const std::string& text) {
  if (is_first_process()) print_to(stderr, "espalier: {}\n", text);
}

Mode find_host() {
  find_next_functions();
  if (!Config::instance().flag("ESPALIER")) return Mode::forward;
  const std::string host_abi = abi_of_host();
  if (host_abi != this_abi) {
    warn("libespalier-" + std::string(this_abi) +
         ".so is preloaded, but this program's MPI needs libespalier-" + host_abi +
         ".so; every call goes to the host MPI (`espalier run` picks the right library)");
    return Mode::forward;
  }
  if (const char* missing = find_own_functions()) {
    warn("this program's MPI has no " + std::string(missing) + "; every call goes to the host MPI");
    return Mode::forward;
  }
  find_constants();
  build_handle_tables();
  return Mode::active;
}

}  // namespace

void* host_data(const char* symbol) { return dlsym(scope, symbol); }

void* next_function(const char* name) {
  void* function = dlsym(RTLD_NEXT, name);
  return function || scope == RTLD_DEFAULT ? function : dlsym(scope, name);
}

Mode resolve(void* caller) {
  // acquire: pairs with the release below, so that the tables are seen.
  Mode now = mode.load(std::memory_order_acquire);
  if (now != Mode::unresolved) return now;
  const std::lock_guard lock(resolving);
  now = mode.load(std::memory_order_relaxed);
  if (now != Mode::unresolved) return now;
  find_scope(caller);
  now = find_host();
  mode.store(now, std::memory_order_release);
  return now;
}

void learn_errors_return() {
#if defined(ESPALIER_ABI_STANDARD)
  // Of Intel MPI 2021.18 the numbers of MPI_ERRORS_RETURN and MPI_ERRORS_ABORT are the other way round.
  // Files begin with the former (MPI 5.0, 14.7), so what it is can be asked, without an error.
  MPI_Errhandler of_files;
  if (host.File_get_errhandler && host.File_get_errhandler(MPI_FILE_NULL, &of_files) == MPI_SUCCESS &&
      (of_files == MPI_ERRORS_RETURN || of_files == MPI_ERRORS_ABORT))
    host.constants.errors_return = of_files;
#endif
}

std::string words_of(int code) {
  char text[8192] = {};  // more than any host's MPI_MAX_ERROR_STRING
  int length = 0;
  if (host.Error_string(code, text, &length) != MPI_SUCCESS) return "code " + std::to_string(code);
  return printable({text, std::min(sizeof text, static_cast<std::size_t>(length))});
}

int no_such_function(const char* name) {
  std::fprintf(stderr,
               "espalier: %s was called, but no MPI library in this process provides it; "
               "link the program with an MPI, or do not preload Espalier\n",
               name);
  return MPI_ERR_OTHER;
}

}  // namespace espalier::mpi
