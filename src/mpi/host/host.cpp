#include "mpi/host/host.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "base/config.hpp"
#include "base/environment.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "mpi/abi/recognise.hpp"
#include "mpi/host/handles.hpp"

namespace espalier::mpi {

Host host;

namespace {

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
  for_each_next(host.next, [](auto& function, const char* name) { find_next(function, name); });
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
  ESPALIER_HOST_WINDOW_CALLS(ESPALIER_FIND)
  ESPALIER_ABI_HOST_CALLS(ESPALIER_FIND)
#undef ESPALIER_FIND
  if constexpr (abi::has_large_count) {
    find(host.Pack_c, "PMPI_Pack_c");
    find(host.Unpack_c, "PMPI_Unpack_c");
    find(host.Type_get_envelope_c, "PMPI_Type_get_envelope_c");
    find(host.Type_get_contents_c, "PMPI_Type_get_contents_c");
  }
  for_each_asked(host.again, [](auto& function, const char* name) { find(function, name); });
  find(host.Comm_is_revoked, "PMPIX_Comm_is_revoked");
  find(host.Iallgather, "PMPI_Iallgather");
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
  host.constants = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL,   MPI_DATATYPE_NULL, MPI_BYTE,
                    MPI_INT,        MPI_OP_NULL,   MPI_REPLACE,     MPI_SUM,           MPI_ERRORS_RETURN,
                    MPI_UINT64_T,   MPI_INFO_NULL, MPI_REQUEST_NULL};
}

/// Every process would print the same: only the first does, where the launcher says which that is.
bool is_first_process() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID",
                           "JSM_NAMESPACE_RANK", "FLUX_TASK_RANK", "SLURM_PROCID"})
    if (const char* rank = variable(name)) return std::strcmp(rank, "0") == 0;
  return true;
}

void warn(const std::string& text) {
  if (is_first_process()) print_to(stderr, "espalier: {}\n", text);
}

Mode find_host() {
  find_next_functions();
  host.constants.request_null = MPI_REQUEST_NULL;  // get_status.cpp needs it in each mode
  if (!Config::instance().flag("ESPALIER")) return Mode::forward;
  const std::string host_abi = abi::of_host();
  if (host_abi != abi::name) {
    warn("libespalier-" + std::string(abi::name) +
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

bool host_has_this_abi() { return std::strcmp(abi::of_host(), abi::name) == 0; }

void* host_symbol(const char* symbol) { return dlsym(scope, symbol); }

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

void learn_errors_return() { abi::learn_errors_return(host); }

bool has_world() {
  int initialised = 0, finalised = 0;
  host.Initialized(&initialised);
  host.Finalized(&finalised);
  return initialised && !finalised;
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
