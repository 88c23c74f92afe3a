#define _GNU_SOURCE
#include "output.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>

static void print_string(FILE* f, const char* s) {
  fputc('"', f);
  for (; *s; ++s) {
    const unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      fprintf(f, "\\%c", c);
    else if (c < 32)
      fprintf(f, "\\u%04x", c);
    else
      fputc(c, f);
  }
  fputc('"', f);
}

static const char* library_of(enum collective which, enum side side, enum mode mode) {
  Dl_info info;
  return dladdr(calls_address(which, side, mode), &info) && info.dli_fname ? info.dli_fname : "";
}

static void print_library(FILE* f, const char* key, enum side side) {
  fprintf(f, ", \"%s\": ", key);
  print_string(f, library_of(ALLREDUCE, side, BLOCKING));
}

static void print_version(FILE* f) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, "\n")] = 0;
  fputs(", \"host_version\": ", f);
  print_string(f, version);
}

// The processors that rank 0 may use.
static void print_affinity(FILE* f) {
  cpu_set_t allowed;
  int n = 0;
  fputs(", \"affinity\": [", f);
  if (!sched_getaffinity(0, sizeof allowed, &allowed))
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed)) fprintf(f, "%s%d", n++ ? ", " : "", cpu);
  fputs("]", f);
}

static const char* truth(int value) { return value ? "true" : "false"; }

static void print_point(FILE* f, const struct point* p) {
  fprintf(f, "{\"collective\": \"%s\", \"bytes\": %zu}", collective_name(p->what), p->bytes);
}

static void print_left_out(FILE* f, const struct plan* plan) {
  fputs(", \"left_out\": [", f);
  for (int i = 0; i < plan->left; ++i) {
    if (i) fputs(", ", f);
    print_point(f, &plan->left_out[i]);
  }
  fputs("]", f);
}

// The measured collectives whose MPI name (persistent: MPI_..._init) is not the host's function any more.
static void print_taken(FILE* f, const struct options* o, enum mode mode) {
  int n = 0;
  fputs(", \"taken\": [", f);
  for (int c = 0; c < COLLECTIVES; ++c)
    if (o->wanted[c] && strcmp(library_of(c, HOST, mode), library_of(c, ESPALIER, mode)))
      fprintf(f, "%s\"%s\"", n++ ? ", " : "", collective_name(c));
  fputs("]", f);
}

static void print_nodes(FILE* f, const struct nodes* nodes, int size) {
  fputs(", \"nodes\": [", f);
  for (int r = 0; r < size; ++r) fprintf(f, "%s%d", r ? ", " : "", nodes->of[r]);
  fputs("]", f);
}

void output_run(FILE* f, const struct bench* b, const struct options* o, const struct plan* plan,
                const struct run_facts* facts) {
  const struct team* team = &b->team;
  fprintf(f, "{\"kind\": \"run\", \"ranks\": %d, \"cores\": %d, \"pinned\": %s, \"buffers\": \"%s\"",
          team->size, team->cores, truth(team->pinned),
          b->allocated ? "allocated"
          : b->reused  ? "reused"
                       : "written");
  fprintf(f, ", \"mode\": \"%s\", \"compute_us\": %g", mode_name(b->work.mode), o->compute_us);
  fprintf(f, ", \"host_only\": %s, \"late_us\": %g, \"nothing_us\": %.4f, \"clock_offset_ns\": %.1f",
          truth(o->host_only), o->late_us, facts->nothing_us, facts->clock_offset_ns);
  fprintf(f, ", \"shared_session\": %s, \"own_sessions\": %s, \"autogroup\": %s, \"weak_yields\": %s",
          truth(facts->shared_session), truth(facts->own_sessions), truth(facts->autogroup),
          truth(b->team.weak_yields));
  print_affinity(f);
  print_version(f);
  print_library(f, "mpi_library", ESPALIER);
  print_library(f, "host_library", HOST);
  print_taken(f, o, b->work.mode);
  print_left_out(f, plan);
  print_nodes(f, &facts->nodes, team->size);
  fputs("}\n", f);
}

static double middle(const double* v) {
  const double low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
  return v[2] < low ? low : v[2] > high ? high : v[2];
}

static void print_side(FILE* f, const char* name, const struct timing* t) {
  fprintf(f, ", \"%s_us\": %.4f, \"%s_mean_us\": %.4f, \"%s_root_us\": %.4f", name, t->us, name, t->mean_us,
          name, t->root_us);
  if (t->block_us > 0) fprintf(f, ", \"%s_block_us\": %.4f", name, t->block_us);
}

void output_round(FILE* f, const struct round_result* r, int host_only) {
  fprintf(f, "{\"kind\": \"round\", \"collective\": \"%s\", \"bytes\": %zu, \"round\": %d, \"root\": %d",
          collective_name(r->point.what), r->point.bytes, r->round, r->point.root);
  fprintf(f, ", \"timing\": \"single\", \"calls\": %d, \"espalier_first\": %s", r->calls,
          r->espalier_first ? "true" : "false");
  print_side(f, "host", &r->side[HOST]);
  if (!host_only) print_side(f, "espalier", &r->side[ESPALIER]);
  fprintf(f, ", \"f_ns\": %.1f, \"f_blocks_ns\": [%.1f, %.1f, %.1f]}\n", middle(r->flag_ns), r->flag_ns[0],
          r->flag_ns[1], r->flag_ns[2]);
}

void output_each(FILE* f, const struct point* p, int round, enum side side, int calls, const double* us,
                 double flag_ns) {
  fprintf(f, "{\"kind\": \"each\", \"collective\": \"%s\", \"bytes\": %zu, \"round\": %d, \"side\": \"%s\"",
          collective_name(p->what), p->bytes, round, side == HOST ? "host" : "espalier");
  fprintf(f, ", \"f_ns\": %.1f, \"us\": [", flag_ns);
  for (int i = 0; i < calls; ++i) fprintf(f, "%s%.3f", i ? ", " : "", us[i]);
  fputs("]}\n", f);
}

void output_limits(FILE* f, size_t bytes, int round, const struct limits* l, double flag_ns) {
  fprintf(f, "{\"kind\": \"limits\", \"bytes\": %zu, \"round\": %d, \"memcpy_us\": %.4f, \"pipe_us\": %.4f",
          bytes, round, l->memcpy_us, l->pipe_us);
  fprintf(f, ", \"pipe_chunk\": %zu, \"pipe_slots\": %d, \"f_ns\": %.1f}\n", l->pipe_chunk, l->pipe_slots,
          flag_ns);
}

void output_switches(FILE* f, int round, const struct switches* s, double flag_ns) {
  fprintf(f,
          "{\"kind\": \"switches\", \"round\": %d, \"per_core\": %d, \"switch_us\": %.4f, \"f_ns\": %.1f}\n",
          round, s->per_core, s->us, flag_ns);
}

static void print_samples(FILE* f, const char* name, const double* us) {
  fprintf(f, ", \"%s\": [", name);
  for (int i = 0; i < MESSAGE_SAMPLES; ++i) fprintf(f, "%s%.3f", i ? ", " : "", us[i]);
  fputs("]", f);
}

void output_messages(FILE* f, int between_nodes, size_t bytes, const struct messages* m) {
  fprintf(f, "{\"kind\": \"messages\", \"where\": \"%s\", \"bytes\": %zu",
          between_nodes ? "between nodes" : "within a node", bytes);
  print_samples(f, "half_trip_us", m->half_trip_us);
  print_samples(f, "gap_us", m->gap_us);
  fputs("}\n", f);
}

void output_end(FILE* f, int rounds, long wrong) {
  fprintf(f, "{\"kind\": \"end\", \"rounds\": %d, \"wrong\": %ld}\n", rounds, wrong);
}
