/* A file that the ranks of a communicator write and read together. */
#ifndef SOAK_FILES_H
#define SOAK_FILES_H

#include <stdio.h>
#include <stdlib.h>

#include "calls.h"
#include "communicators.h"

enum { LONGEST_NAME = 4096 };

/* Of a split communicator each part has a file of its own: it is named after the part's first rank. */
static void name_file(const Step* s, const View* v, char* name) {
  const char* folder = getenv("SOAK_FOLDER");
  const int first = 0;
  int of_world = 0;
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(v->comm, &group);
  MPI_Group_translate_ranks(group, 1, &first, world, &of_world);
  MPI_Group_free(&world);
  MPI_Group_free(&group);
  snprintf(name, LONGEST_NAME, "%s/soak-file-%d-%d-%llu", folder ? folder : ".", s->comm, of_world, s->seed);
}

static void fill_block(const Step* s, char* buffer, size_t bytes, int rank) {
  Side side = {0};
  memset(buffer, FRESH, bytes);
  add(&side, 0, s->count, rank, rank, 0);
  fill(s, buffer, &side, 0);
  free(side.block);
}

static void write_block(const Step* s, MPI_File file, MPI_Offset at, const char* out) {
  const MPI_Datatype type = types[s->type].type;
  MPI_Request request;
  if (s->form == BLOCKING) {
    MPI_File_write_at_all(file, at, out, (int)s->count, type, MPI_STATUS_IGNORE);
  } else {
    MPI_File_iwrite_at_all(file, at, out, (int)s->count, type, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void read_block(const Step* s, MPI_File file, MPI_Offset at, char* in) {
  const MPI_Datatype type = types[s->type].type;
  MPI_Request request;
  if (s->form == BLOCKING) {
    MPI_File_read_at_all(file, at, in, (int)s->count, type, MPI_STATUS_IGNORE);
  } else {
    MPI_File_iread_at(file, at, in, (int)s->count, type, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/* Each rank writes a block, and reads that of the next rank. */
static void use_file(const Step* s) {
  const View v = view_of(s->comm);
  const Type* t = &types[s->type];
  const size_t bytes = (size_t)s->count * (size_t)(t->cell * t->extent) + GUARD;
  const MPI_Offset block = s->count * t->cell * t->cells; /* holes are not in the file */
  const int next = (v.rank + 1) % v.size;
  char name[LONGEST_NAME], *out = take(bytes), *in = take(bytes), *want = take(bytes);
  MPI_File file;
  name_file(s, &v, name);
  fill_block(s, out, bytes, v.rank);
  fill_block(s, want, bytes, next);
  memset(in, FRESH, bytes);
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  if (MPI_File_open(v.comm, name, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) give_up("descriptor for a file");
  MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
  write_block(s, file, v.rank * block, out);
  MPI_File_sync(file);
  MPI_Barrier(v.comm);
  MPI_File_sync(file);
  read_block(s, file, next * block, in);
  MPI_File_close(&file);
  const long at = difference(want, in, bytes);
  count(s, at < 0, "what is read from the file", at);
  free(out), free(in), free(want), free(v.from), free(v.to);
}

#endif
