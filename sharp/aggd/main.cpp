// espalier-aggd TREE.json NAME [--with-parent]: one aggregation node of a tree, in the foreground, until a
// signal ends it. It prints "NAME: ready" once it listens and is connected to its parent in the tree. With
// --with-parent it also ends when the process that started it ends, for whatever reason.
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "base/format.hpp"
#include "sharp/daemon.hpp"

int main(int argc, char** argv) {
  using namespace espalier::sharp;
  const bool with_parent = argc == 4 && std::strcmp(argv[3], "--with-parent") == 0;
  if (argc != 3 && !with_parent) {
    std::fprintf(stderr, "usage: espalier-aggd TREE.json NAME [--with-parent] (see docs/sharp.md)\n");
    return 2;
  }
  if (with_parent) prctl(PR_SET_PDEATHSIG, SIGTERM);
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
