#include "points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char* path, int line, const char* word) {
  fprintf(stderr, "trials: %s:%d: '%s' is not what a line takes: COLLECTIVE BYTES [host] [TRIAL...]\n", path, line,
          word ? word : "");
  return -1;
}

static int read_side(struct points* points, struct sides* sides, const char* word) {
  char* end;
  const long trial = strtol(word, &end, 10);
  if (sides->count == MAX_SIDES) return -1;
  if (!strcmp(word, "host")) return sides->side[sides->count++] = 0;
  if (*end || end == word || trial < 0 || trial >= MAX_TRIALS) return -1;
  if (trial >= points->trials) points->trials = (int)trial + 1;
  sides->side[sides->count++] = 1 + (int)trial;
  return 0;
}

static const char* read_line(struct points* points, char* line) {
  const int i = points->plan.points;
  const char *name = strtok(line, " \n"), *bytes = strtok(NULL, " \n");
  struct point* p = &points->plan.point[i];
  struct sides* sides = &points->of[i];
  if (!name || !bytes || i == COLLECTIVES * MAX_POINTS) return "";
  *p = (struct point){collective_parse(name), strtoull(bytes, NULL, 10), 0, DECREASING};
  if (p->what == COLLECTIVES || p->bytes % sizeof(double)) return name;
  for (const char* word = strtok(NULL, " \n"); word; word = strtok(NULL, " \n"))
    if (read_side(points, sides, word)) return word;
  ++points->plan.points;
  return NULL;
}

int points_read(struct points* points, const char* path) {
  char line[512];
  int number = 0;
  FILE* f = fopen(path, "r");
  memset(points, 0, sizeof *points);
  if (!f) return complain(path, 0, "no such file");
  const char* wrong = NULL;
  while (!wrong && fgets(line, sizeof line, f)) {
    ++number;
    if (line[0] != '\n') wrong = read_line(points, line);
  }
  fclose(f);
  return wrong ? complain(path, number, wrong) : 0;
}
