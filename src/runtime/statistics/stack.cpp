#include "runtime/statistics/stack.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <climits>
#include <string_view>
#include <vector>

namespace espalier::runtime::statistics::stack {
namespace {

struct Range {
  std::uintptr_t from, to;
  bool holds(std::uintptr_t address) const { return from <= address && address < to; }
};

bool is_of_mpi(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libmpi") || name.starts_with("libpmpi") || name.starts_with("libespalier");
}

int collect(dl_phdr_info* object, std::size_t, void* list) {
  const auto here = reinterpret_cast<std::uintptr_t>(&collect);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const Range range{object->dlpi_addr + part.p_vaddr, object->dlpi_addr + part.p_vaddr + part.p_memsz};
    // The name does not tell where Espalier is linked into something else.
    if (is_of_mpi(object->dlpi_name) || range.holds(here))
      static_cast<std::vector<Range>*>(list)->push_back(range);
  }
  return 0;
}

/// Of the libraries to pass over: loaded by the time of the first collective.
const std::vector<Range>& passed_over() {
  static const std::vector<Range>& ranges = *[] {
    auto* list = new std::vector<Range>;  // never destroyed: threads may still be in a collective at exit
    dl_iterate_phdr(collect, list);
    return list;
  }();
  return ranges;
}

struct Walk {
  void** addresses;
  int most, found;
};

_Unwind_Reason_Code visit(_Unwind_Context* frame, void* state) {
  Walk& walk = *static_cast<Walk*>(state);
  const std::uintptr_t address = _Unwind_GetIP(frame);
  if (address == 0) return _URC_END_OF_STACK;
  const auto holds = [&](const Range& range) { return range.holds(address - 1); };
  const bool inside = walk.found == 0 && std::ranges::any_of(passed_over(), holds);
  if (!inside) walk.addresses[walk.found++] = reinterpret_cast<void*>(address);
  return walk.found == walk.most ? _URC_END_OF_STACK : _URC_NO_REASON;
}

std::string path_of(const link_map& object) {
  if (object.l_name && *object.l_name) return object.l_name;
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  return length > 0 ? std::string(program, static_cast<std::size_t>(length)) : "";
}

}  // namespace

int walk(void** addresses, int most) {
  Walk walk{addresses, most, 0};
  _Unwind_Backtrace(visit, &walk);
  return walk.found;
}

Place place_of(void* return_address) {
  void* call = static_cast<char*>(return_address) - 1;
  Dl_info symbol{};
  link_map* object = nullptr;
  if (dladdr1(call, &symbol, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0 || !object)
    return {"", reinterpret_cast<std::uintptr_t>(call), ""};
  return {path_of(*object), reinterpret_cast<std::uintptr_t>(call) - object->l_addr,
          symbol.dli_sname ? symbol.dli_sname : ""};
}

}  // namespace espalier::runtime::statistics::stack
