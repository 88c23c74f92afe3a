/* Runs a random program that tools/soak has made: soak FILE. A line a step: its verb, then KEY=NUMBER. Each result is
   compared with what the rank works out by itself. Exit code: 1: a result was wrong, 2: not such a file. */
#define _GNU_SOURCE
#include "soak/run.h"

static int set(Step* step, const char* key, long long number) {
  struct {
    const char* key;
    int* to;
  } const known[] = {{"comm", &step->comm}, {"to", &step->to},     {"form", &step->form},         {"type", &step->type},
                     {"op", &step->op},     {"root", &step->root}, {"in_place", &step->in_place}, {"rank", &step->rank},
                     {"thread", &step->thread}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (!strcmp(known[i].key, key)) return *known[i].to = (int)number, 1;
  if (!strcmp(key, "count")) return step->count = number, 1;
  if (!strcmp(key, "us")) return step->us = number, 1;
  if (!strcmp(key, "seed")) return step->seed = (unsigned long long)number, 1;
  return 0;
}

static int read_step(char* line, Step* step) {
  char* rest = line;
  const char* verb = strtok_r(line, " \n", &rest);
  memset(step, 0, sizeof *step);
  for (step->verb = 0; step->verb < VERB_COUNT && strcmp(name_of(step->verb), verb); ++step->verb) {
  }
  if (step->verb == VERB_COUNT) return 0;
  for (char* word; (word = strtok_r(NULL, " \n", &rest));) {
    char* number = strchr(word, '=');
    if (!number) return 0;
    *number++ = 0;
    if (!set(step, word, strtoll(number, NULL, 10))) return 0;
  }
  return step->comm >= 0 && step->comm < COMMUNICATORS && step->to >= 0 && step->to < COMMUNICATORS && step->type >= 0 &&
         step->type < TYPE_COUNT && step->op >= 0 && step->op < OP_COUNT && step->thread >= 0 && step->thread <= THREADS;
}

int main(int argc, char** argv) {
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) return fprintf(stderr, "usage: soak FILE\n"), 2;
  Step* steps = NULL;
  int number = 0;
  char line[512];
  while (fgets(line, sizeof line, file)) {
    if (line[0] == '#' || line[0] == '\n') continue;
    steps = realloc(steps, sizeof(Step) * (size_t)(number + 1));
    if (!read_step(line, &steps[number++])) return fprintf(stderr, "soak: not a step: %s\n", line), 2;
  }
  fclose(file);
  const int status = soak(argc, argv, steps, number);
  free(steps);
  return status;
}
