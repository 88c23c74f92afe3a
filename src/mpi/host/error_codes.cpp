#include "mpi/host/error_codes.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "base/printable.hpp"
#include "mpi/host/host.hpp"

namespace espalier::mpi::error_codes {
namespace {

// Of a class. Hosts have room for some thousands in all and never take one back.
constexpr std::size_t most = 32;

struct Code {
  int code;
  std::string text;
};

/// Outlives the process's static objects, from whose destructors errors may come.
struct Known {
  std::mutex mutex;
  std::map<int, std::vector<Code>> of_class;  ///< oldest first
};

Known& known() {
  static Known& all = *new Known;
  return all;
}

/// `text` is a copy, for hosts of MPI-2 take it without const.
bool set_text(int code, std::string text) { return host.Add_error_string(code, text.data()) == MPI_SUCCESS; }

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  return host.Error_class(code, &error_class) == MPI_SUCCESS ? error_class : MPI_SUCCESS;
}

/// A new code, or the class itself where the host does not say of it what it shall.
int add_to(int error_class, const std::string& text) {
  int code = error_class;
  const bool is_good = host.Add_error_code(error_class, &code) == MPI_SUCCESS &&
                       class_of(code) == error_class && set_text(code, text) && words_of(code) == text;
  return is_good ? code : error_class;
}

/// MPICH 4.0 forgets the words of codes of predefined classes: there they are of a class of our own.
int own_class() {
  static const int own = []() -> int {
    int added = MPI_ERR_OTHER;
    if (host.Add_error_class(&added) != MPI_SUCCESS) return MPI_ERR_OTHER;
    set_text(added, "an error that Espalier has found");
    return added;
  }();
  return own;
}

/// The class itself where the host can do neither.
int new_code(int error_class, const std::string& text) {
  const int code = add_to(error_class, text);
  if (code != error_class) return code;
  const int own = own_class(), other = add_to(own, text);
  return other != own ? other : error_class;
}

}  // namespace

int code_of(int error_class, const std::string& text) {
  const std::string words = printable(text, MPI_MAX_ERROR_STRING - 1);
  const std::lock_guard lock(known().mutex);
  std::vector<Code>& codes = known().of_class[error_class];
  const auto same =
      std::find_if(codes.begin(), codes.end(), [&](const Code& code) { return code.text == words; });
  if (same != codes.end()) return same->code;
  if (codes.size() < most) {
    const int code = new_code(error_class, words);
    if (code != error_class) codes.push_back({code, words});
    return code;
  }
  Code& oldest = codes.front();
  if (!set_text(oldest.code, words)) return error_class;
  oldest.text = words;
  std::rotate(codes.begin(), codes.begin() + 1, codes.end());
  return codes.back().code;
}

}  // namespace espalier::mpi::error_codes
