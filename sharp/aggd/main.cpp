// espalier-aggd TREE.json NAME [--with-parent]: one aggregation node of a tree, in the foreground, until a
// signal ends it. It prints "NAME: ready" once it listens and is connected to its parent in the tree. With
// --with-parent it also ends when the process that started it ends, for whatever reason.
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "base/format.hpp"
#include "sharp/daemon.hpp"

namespace {

constexpr const char* usage = "usage: espalier-aggd TREE.json NAME [--with-parent]\n";
constexpr const char* help =
    "\nRuns one aggregation node of a tree, in the foreground, until SIGINT or SIGTERM. It prints \"NAME: "
    "ready\"\n"
    "once it listens and is connected to its parent in the tree. `espalier aggregate` starts a whole tree.\n"
    "\n"
    "  TREE.json      the tree: espalier aggregate --nodes N --file TREE.json --write-only\n"
    "  NAME           of the node in that file, such as a0\n"
    "  --with-parent  end when the process that started it ends\n"
    "  -h, --help     print this\n"
    "  --version      print the version\n"
    "\n"
    "Exit code: 0 ended by a signal, 1 the node cannot run, 2 wrong arguments.\n";

/// Whether the only argument asks for words alone; they are printed then.
bool answers(int argc, char** argv) {
  const auto is = [&](const char* word) { return argc == 2 && std::strcmp(argv[1], word) == 0; };
  if (is("-h") || is("--help"))
    std::printf("%s%s", usage, help);
  else if (is("--version"))
    std::printf("espalier-aggd %s\n", ESPALIER_VERSION);
  else
    return false;
  return true;
}

/// Each connection takes a descriptor: as many as this process may have.
void raise_limit_of_descriptors() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace espalier::sharp;
  if (answers(argc, argv)) return 0;
  const bool with_parent = argc == 4 && std::strcmp(argv[3], "--with-parent") == 0;
  if (argc != 3 && !with_parent) {
    std::fprintf(stderr, "%sespalier-aggd -h says more\n", usage);
    return 2;
  }
  if (with_parent) prctl(PR_SET_PDEATHSIG, SIGTERM);
  raise_limit_of_descriptors();
  try {
    const TreeFile tree = read_tree_file(argv[1]);
    const int node = tree.find(argv[2]);
    if (node < 0) throw espalier::Error(std::string(argv[1]) + " has no aggregation node " + argv[2]);
    asio::io_context context(1);
    const Daemon daemon(context, tree, node, [&] {
      std::printf("%s: ready\n", argv[2]);
      std::fflush(stdout);
    });
    asio::signal_set signals(context, SIGINT, SIGTERM);
    signals.async_wait([&](const asio::error_code&, int) { context.stop(); });
    context.run();
  } catch (const std::exception& error) {
    espalier::print_to(stderr, "espalier-aggd: {}\n", error.what());
    return 1;
  }
  return 0;
}
