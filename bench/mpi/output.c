#define _GNU_SOURCE
#include "output.h"

#include <dlfcn.h>
#include <mpi.h>
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

static void print_library(FILE* f, const char* key, const char* symbol) {
  Dl_info info;
  void* address = dlsym(RTLD_DEFAULT, symbol);
  fprintf(f, ", \"%s\": ", key);
  print_string(f, address && dladdr(address, &info) && info.dli_fname ? info.dli_fname : "");
}

static void print_version(FILE* f) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, "\n")] = 0;
  fputs(", \"host_version\": ", f);
  print_string(f, version);
}

void output_run(FILE* f, const struct bench* b, double nothing_us, double offset_ns, int host_only) {
  const struct team* team = &b->team;
  fprintf(f, "{\"kind\": \"run\", \"ranks\": %d, \"cores\": %d, \"pinned\": %s, \"buffers\": \"%s\"",
          team->size, team->cores, team->pinned ? "true" : "false", b->reused ? "reused" : "written");
  fprintf(f, ", \"host_only\": %s, \"nothing_us\": %.4f, \"clock_offset_ns\": %.1f",
          host_only ? "true" : "false", nothing_us, offset_ns);
  print_version(f);
  print_library(f, "mpi_library", "MPI_Allreduce");
  print_library(f, "host_library", "PMPI_Allreduce");
  fputs("}\n", f);
}

static double middle(const double* v) {
  const double low = v[0] < v[1] ? v[0] : v[1], high = v[0] < v[1] ? v[1] : v[0];
  return v[2] < low ? low : v[2] > high ? high : v[2];
}

static void print_side(FILE* f, const char* name, const struct timing* t) {
  fprintf(f, ", \"%s_us\": %.4f, \"%s_mean_us\": %.4f, \"%s_root_us\": %.4f", name, t->us, name, t->mean_us,
          name, t->root_us);
}

void output_round(FILE* f, const struct round_result* r, int host_only) {
  fprintf(f, "{\"kind\": \"round\", \"collective\": \"%s\", \"bytes\": %zu, \"round\": %d, \"root\": %d",
          collective_name(r->point.what), r->point.bytes, r->round, r->point.root);
  fprintf(f, ", \"calls\": %d, \"espalier_first\": %s", r->calls, r->espalier_first ? "true" : "false");
  print_side(f, "host", &r->side[HOST]);
  if (!host_only) print_side(f, "espalier", &r->side[ESPALIER]);
  fprintf(f, ", \"f_ns\": %.1f, \"f_blocks_ns\": [%.1f, %.1f, %.1f]}\n", middle(r->flag_ns), r->flag_ns[0],
          r->flag_ns[1], r->flag_ns[2]);
}

void output_limits(FILE* f, size_t bytes, int round, const struct limits* l, double flag_ns) {
  fprintf(f, "{\"kind\": \"limits\", \"bytes\": %zu, \"round\": %d, \"memcpy_us\": %.4f, \"pipe_us\": %.4f",
          bytes, round, l->memcpy_us, l->pipe_us);
  fprintf(f, ", \"f_ns\": %.1f}\n", flag_ns);
}

void output_end(FILE* f, int rounds, long wrong) {
  fprintf(f, "{\"kind\": \"end\", \"rounds\": %d, \"wrong\": %ld}\n", rounds, wrong);
}
