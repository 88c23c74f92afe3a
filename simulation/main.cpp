// espalier-simulate: a request on standard input (simulation/engine/request.hpp), the answer on standard
// output.
#include <iostream>
#include <iterator>
#include <string>

#include "simulation/engine/request.hpp"

int main() {
  const std::string request(std::istreambuf_iterator<char>(std::cin), {});
  std::cout << espalier::simulation::answer(request) << "\n";
}
