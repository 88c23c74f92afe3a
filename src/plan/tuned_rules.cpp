#include "plan/tuned_rules.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/hash.hpp"
#include "plan/machine_identity.hpp"

namespace espalier::plan {
namespace {

constexpr const char* site_folder = "/etc/espalier";

std::string& host_text() {
  static std::string& text = *new std::string;  // never destroyed, as Config
  return text;
}

std::string folder_of_user() {
  const char* config = variable("XDG_CONFIG_HOME");
  if (config && *config == '/') return formatted("{}/espalier", config);  // relative ones do not count (XDG)
  const char* home = variable("HOME");
  return home && *home == '/' ? formatted("{}/.config/espalier", home) : "";
}

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace

std::string host_line(std::string_view version) {
  std::string line(version.substr(0, version.find('\n')));
  const auto is_escaped = [](char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' '; };
  std::replace_if(line.begin(), line.end(), is_escaped, ' ');
  const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
  line.erase(std::unique(line.begin(), line.end(), both_blank), line.end());
  if (line.ends_with(' ')) line.pop_back();  // Open MPI counts the zero at the end of its text
  return line;
}

TunedFor tuned_for(const Config& config, std::string host) {
  return {machine_identity(config.text("ESPALIER_TOPOLOGY")), host_line(host), ESPALIER_VERSION};
}

std::string tuned_file_name(const TunedFor& what) {
  const std::string all = formatted("{}\n{}\n{}\n", what.machine, what.host, what.espalier);
  return formatted("tuned-{:016x}.json", hash(all));
}

std::vector<std::string> tuned_folders(const Config& config) {
  const std::string& setting = config.text("ESPALIER_TUNED");
  if (is_off(setting)) return {};
  if (setting != "auto" && !is_on(setting)) return {setting};
  std::vector<std::string> folders;
  if (std::string user = folder_of_user(); !user.empty()) folders.push_back(std::move(user));
  folders.emplace_back(site_folder);
  return folders;
}

TunedRules find_tuned_rules(const Config& config, const std::string& host) {
  if (host.empty()) return {};
  std::string name;
  for (const std::string& folder : tuned_folders(config)) {
    if (!is_there(folder)) continue;
    if (name.empty()) name = tuned_file_name(tuned_for(config, host));
    TunedRules found = {formatted("{}/{}", folder, name), {}, {}};
    if (!is_there(found.path)) continue;
    found.text = read_file(found.path, found.why).value_or("");
    return found;
  }
  return {};
}

void set_host(std::string_view version) { host_text() = host_line(version); }

const std::string& known_host() { return host_text(); }

const TunedRules& tuned_rules() {
  static const TunedRules& found = *new TunedRules(find_tuned_rules(Config::instance(), known_host()));
  return found;
}

std::uint64_t agreement() { return hash(tuned_rules().text, Config::instance().agreement()); }

}  // namespace espalier::plan
