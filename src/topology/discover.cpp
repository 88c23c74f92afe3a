#include "topology/discover.hpp"

#include <cerrno>
#include <cstring>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "topology/hwloc_library.hpp"
#include "topology/without_hwloc.hpp"

namespace espalier::topology {

namespace {

// Where a topology is read from, once the environment has been asked.
struct Origin {
  enum class Kind { machine, xml_file, xml_text, synthetic };
  Kind kind;
  std::string text;   // the path, and then what it holds; the XML; the description
  std::string words;  // for the user
};

Origin origin_of(const Source& source) {
  if (source.kind == Source::Kind::xml) return {Origin::Kind::xml_text, source.text, "an XML text"};
  if (source.kind == Source::Kind::synthetic) {
    return {Origin::Kind::synthetic, source.text, formatted("the synthetic description \"{}\"", source.text)};
  }
  // hwloc would look at both by itself, but says nothing when the file is missing and describes the real
  // machine.
  if (const char* path = variable("HWLOC_XMLFILE"); path && *path) {
    return {Origin::Kind::xml_file, path, formatted("the file {} (HWLOC_XMLFILE)", path)};
  }
  if (const char* text = variable("HWLOC_SYNTHETIC"); text && *text) {
    return {Origin::Kind::synthetic, text,
            formatted("the synthetic description \"{}\" (HWLOC_SYNTHETIC)", text)};
  }
  return {Origin::Kind::machine, {}, "this machine"};
}

[[noreturn]] void refuse(const Origin& origin) {
  switch (origin.kind) {
    case Origin::Kind::xml_file:
      throw Error(formatted(
          "{} is not a topology in hwloc's XML; make one with \"lstopo file.xml\" or unset HWLOC_XMLFILE",
          origin.words));
    case Origin::Kind::xml_text:
      throw Error(
          "the XML text is not a topology that hwloc can read; hand over what export_xml wrote, as it is");
    case Origin::Kind::synthetic:
      throw Error(formatted(
          "hwloc cannot read {}; write levels from the outside in, each with how many there are in one "
          "of the level before, as in \"package:2 numa:4 l3:4 core:4 pu:1\"",
          origin.words));
    case Origin::Kind::machine:
      break;
  }
  throw Error(formatted("hwloc cannot describe this machine ({}); describe it with HWLOC_XMLFILE=file.xml",
                        std::strerror(errno)));
}

// What the origin holds; hwloc itself would wait for a FIFO, and read a device without end.
void read_xml(Origin& origin) {
  if (origin.kind != Origin::Kind::xml_file) return;
  std::string why;
  const auto text = read_file(origin.text, why);
  if (!text || text->empty())
    throw Error(
        formatted("HWLOC_XMLFILE names {}, which cannot be read: {}; give it a topology in hwloc's XML or "
                  "unset HWLOC_XMLFILE",
                  origin.text, text ? "it is empty" : why));
  origin.text = *text;
}

// A loaded hwloc topology.
class Loaded {
 public:
  Loaded(const HwlocLibrary& hwloc, const Origin& origin) : hwloc_(hwloc) {
    if (hwloc_.topology_init(&topology_) != 0) throw Error("hwloc cannot start: it is out of memory");
    if (!fill(origin)) {
      hwloc_.topology_destroy(topology_);
      refuse(origin);
    }
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  ~Loaded() { hwloc_.topology_destroy(topology_); }

  Domain domains() const {
    std::vector<Domain> pieces;
    hwloc_obj_t root = hwloc_.get_obj_by_depth(topology_, 0, 0);
    collect(root, pieces);
    // NUMA domains hang beside the tree of the cores in hwloc 2, on a level of their own.
    for (hwloc_obj_t numa = hwloc_.get_obj_by_depth(topology_, HWLOC_TYPE_DEPTH_NUMANODE, 0); numa;
         numa = numa->next_cousin) {
      pieces.push_back({Level::numa, cpus_of(numa), {}});
    }
    return nest(cpus_of(root), std::move(pieces));
  }

  std::string xml() const {
    char* buffer = nullptr;
    int length = 0;
    if (hwloc_.topology_export_xmlbuffer(topology_, &buffer, &length, 0) != 0) {
      throw Error(formatted("hwloc cannot write the topology as XML ({})", std::strerror(errno)));
    }
    std::string text(buffer);  // the length counts the closing zero
    hwloc_.free_xmlbuffer(topology_, buffer);
    return text;
  }

 private:
  bool fill(const Origin& origin) {
    hwloc_.topology_set_flags(topology_, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    int refused = 0;
    switch (origin.kind) {
      case Origin::Kind::machine:
        break;
      case Origin::Kind::xml_file:
      case Origin::Kind::xml_text:
        refused = hwloc_.topology_set_xmlbuffer(topology_, origin.text.c_str(),
                                                static_cast<int>(origin.text.size()) + 1);
        break;
      case Origin::Kind::synthetic:
        refused = hwloc_.topology_set_synthetic(topology_, origin.text.c_str());
        break;
    }
    return refused == 0 && hwloc_.topology_load(topology_) == 0;
  }

  void collect(hwloc_obj_t object, std::vector<Domain>& pieces) const {
    if (auto level = level_of(object->type)) pieces.push_back({*level, cpus_of(object), {}});
    for (hwloc_obj_t child = object->first_child; child; child = child->next_sibling) collect(child, pieces);
  }

  static std::optional<Level> level_of(hwloc_obj_type_t type) {
    switch (type) {
      case HWLOC_OBJ_PACKAGE:
        return Level::package;
      case HWLOC_OBJ_L3CACHE:
        return Level::l3;
      case HWLOC_OBJ_L2CACHE:
        return Level::l2;
      case HWLOC_OBJ_CORE:
        return Level::core;
      default:
        return std::nullopt;
    }
  }

  CpuSet cpus_of(hwloc_obj_t object) const {
    CpuSet cpus;
    for (int cpu = hwloc_.bitmap_next(object->cpuset, -1); cpu >= 0;
         cpu = hwloc_.bitmap_next(object->cpuset, cpu)) {
      cpus.set(cpu);
    }
    return cpus;
  }

  const HwlocLibrary& hwloc_;
  hwloc_topology_t topology_ = nullptr;
};

std::string version_of(const HwlocLibrary& hwloc) {
  unsigned version = hwloc.get_api_version();
  return formatted("hwloc API {}.{}.{}", version >> 16, (version >> 8) & 0xff, version & 0xff);
}

[[noreturn]] void miss_library(const Origin& origin, const std::string& reason) {
  throw Error(
      formatted("hwloc is needed to read {}, and cannot be loaded: {}; install it (Debian: libhwloc15)",
                origin.words, reason));
}

// `reason`: why hwloc cannot be loaded.
Topology without_hwloc(const Origin& origin, const std::string& reason) {
  if (origin.kind == Origin::Kind::synthetic) {
    if (auto machine = read_synthetic(origin.text))
      return {*std::move(machine), formatted("{}, without hwloc", origin.words)};
  }
  if (origin.kind != Origin::Kind::machine) miss_library(origin, reason);
  if (auto machine = read_sysfs())
    return {*std::move(machine),
            formatted("{}, by /sys, as hwloc cannot be loaded: {}", origin.words, reason)};
  return {
      {Level::machine, current_affinity(), {}},
      formatted("the affinity mask alone, without domains, as /sys has none and hwloc cannot be loaded: {}",
                reason)};
}

}  // namespace

Topology discover(const Source& source, const char* library) {
  Origin origin = origin_of(source);
  read_xml(origin);
  std::string reason;
  auto hwloc = HwlocLibrary::load(library, reason);
  if (!hwloc) return without_hwloc(origin, reason);
  return {Loaded(*hwloc, origin).domains(), formatted("{}, by {}", origin.words, version_of(*hwloc))};
}

std::string export_xml(const Source& source, const char* library) {
  Origin origin = origin_of(source);
  read_xml(origin);
  std::string reason;
  auto hwloc = HwlocLibrary::load(library, reason);
  if (!hwloc) miss_library(origin, reason);
  return Loaded(*hwloc, origin).xml();
}

}  // namespace espalier::topology
