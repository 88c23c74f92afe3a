#pragma once

#include <string>

#include "topology/topology.hpp"

namespace espalier::topology {

// What to look at.
struct Source {
  enum class Kind {
    this_machine,  // or what HWLOC_XMLFILE, else HWLOC_SYNTHETIC, puts in its place
    xml,           // `text` is hwloc's XML, as export_xml wrote it
    synthetic,     // `text` is hwloc's synthetic description, such as "package:2 numa:4 l3:4 core:4 pu:1"
  };
  Kind kind = Kind::this_machine;
  std::string text;

  static Source this_machine() { return {}; }
  static Source xml(std::string text) { return {Kind::xml, std::move(text)}; }
  static Source synthetic(std::string text) { return {Kind::synthetic, std::move(text)}; }
};

inline constexpr const char* hwloc_name = "libhwloc.so.15";

// The domains of the machine, by libhwloc, loaded for the time of the call. All of the machine is seen, also
// what this process may not use: its siblings may be bound elsewhere. When libhwloc cannot be loaded, this
// machine is read from /sys, and where that cannot be read either it is a flat one made of the calling
// thread's affinity mask; Topology::source says which. Throws Error when an XML or a description cannot be
// read, or needs a libhwloc that cannot be loaded: an XML, or a description that is more than levels with
// their numbers. Costs milliseconds: one process of a node does it and hands `print`'s line, or the XML, to
// the rest.
Topology discover(const Source& source, const char* library = hwloc_name);

// The XML from which other processes, and lstopo, build the same topology. Throws as discover does, and when
// libhwloc cannot be loaded.
std::string export_xml(const Source& source, const char* library = hwloc_name);

}  // namespace espalier::topology
