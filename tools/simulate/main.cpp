#include <iostream>
#include <iterator>
#include <string>

#include "simulate/engine/request.hpp"

int main() {
  const std::string request(std::istreambuf_iterator<char>(std::cin), {});
  std::cout << espalier::simulate::answer(request) << "\n";
}
