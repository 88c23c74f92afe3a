// The backend's life, and what Python sees of it.
#include "backend.hpp"

#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include <algorithm>

namespace espalier_torch {

namespace py = pybind11;

Backend::Backend(const std::string& library, std::uintptr_t comm, Inner inner, std::string name,
                 std::string whose, std::chrono::milliseconds timeout, bool recorded)
    : c10d::Backend(inner->getRank(), inner->getSize()),
      library_(library),
      comm_(reinterpret_cast<espalier_comm*>(comm)),
      inner_(std::move(inner)),
      name_(std::move(name)),
      whose_(std::move(whose)),
      timeout_(timeout),
      recorded_(recorded) {}

// No collective may be under way when the memory goes. Python drops the last reference while it holds its lock, which the
// worker's thread may need for the tensors that it lets go.
Backend::~Backend() {
  const WithoutInterpreter unlocked;
  free();
}

void Backend::free() {
  worker_.end();
  const std::lock_guard lock(mutex_);
  if (comm_) library_.comm_free(std::exchange(comm_, nullptr));
}

void Backend::set_timeout(std::chrono::milliseconds timeout) {
  const std::lock_guard lock(mutex_);
  timeout_ = timeout;
  check(
      library_.comm_set_timeout(comm_, static_cast<int>(std::clamp<int64_t>(timeout.count(), 1, INT32_MAX))));
}

void Backend::fail(int code) const {
  std::string why = library_.error_text();
  const std::string advice = "make a new communicator, or set ESPALIER=off";  // of MPI programs
  if (const auto place = why.find(advice); place != std::string::npos)
    why.replace(place, advice.size(), "destroy the group and make a new one");
  const char* what = code == ESPALIER_ERR_TIMEOUT ? "timeout in a collective" : "a collective failed";
  TORCH_CHECK_WITH(DistBackendError, false, "espalier: ", what, ": ", why, whose_);
}

void Backend::allreduce_now(std::uintptr_t data, std::size_t count, unsigned how) {
  worker_.drain();
  const std::lock_guard lock(mutex_);
  wait_as(By::program);
  label(static_cast<int>(how >> 16));
  check(library_.allreduce(comm_, library_.in_place, reinterpret_cast<void*>(data), count,
                           static_cast<espalier_type>(how & 0xff),
                           static_cast<espalier_op>(how >> 8 & 0xff)));
}

WorkPointer Backend::barrier(const c10d::BarrierOptions& opts) {
  return start(c10d::OpType::BARRIER, "espalier:barrier", opts, {}, [this, timeout = opts.timeout] {
    const bool own = timeout.count() > 0 && timeout != timeout_;
    const auto limit = [this](std::chrono::milliseconds ms) {
      check(library_.comm_set_timeout(comm_, static_cast<int>(std::min<int64_t>(ms.count(), INT32_MAX))));
    };
    if (own) limit(timeout);
    check(library_.barrier(comm_));
    if (own) limit(timeout_);
  });
}

}  // namespace espalier_torch

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  using espalier_torch::Backend;
  const py::object base = py::module::import("torch.distributed").attr("Backend");  // registers c10d's class
  py::class_<Backend, c10d::Backend, c10::intrusive_ptr<Backend>>(module, "Backend")
      .def(py::init<const std::string&, std::uintptr_t, espalier_torch::Inner, std::string, std::string,
                    std::chrono::milliseconds, bool>())
      .def("set_timeout", &Backend::set_timeout, py::call_guard<py::gil_scoped_release>())
      .def("_set_default_timeout", &Backend::set_timeout, py::call_guard<py::gil_scoped_release>())
      .def("allreduce_now", &Backend::allreduce_now, py::call_guard<py::gil_scoped_release>())
      .def(
          "allreduce_sparse",  // torch 2.4 has no name for it
          [](Backend& self, std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions& opts) {
            return self.allreduce_sparse(tensors, opts);
          },
          py::call_guard<py::gil_scoped_release>())
      .def("shutdown", &Backend::free, py::call_guard<py::gil_scoped_release>());
}
