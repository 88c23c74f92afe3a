/* What is sent, as a function of (seed, source, destination, item): every rank can work out every result by itself. */
#ifndef SOAK_VALUES_H
#define SOAK_VALUES_H

#include <mpi.h>
#include <stdint.h>
#include <string.h>

enum { BYTE_T, SHORT_T, INT_T, LONG_T, FLOAT_T, DOUBLE_T, PAIR_T, AFFINE_T, HOLES_T, TRIPLE_T, TYPE_COUNT };
enum { SUM, PROD, MAX, MIN, BAND, BOR, BXOR, LAND, LOR, MINLOC, MAXLOC, AFFINE, USER_SUM, OP_COUNT };
enum { MOST_CELLS = 3 };

/* An item is so many cells of equal size, at these places; its extent may have holes. */
typedef struct {
  MPI_Datatype type;
  int cell, cells, extent, at[MOST_CELLS];
} Type;
static Type types[TYPE_COUNT] = {{.cell = 1, .cells = 1, .extent = 1}, {.cell = 2, .cells = 1, .extent = 1},
                                 {.cell = 4, .cells = 1, .extent = 1}, {.cell = 8, .cells = 1, .extent = 1},
                                 {.cell = 4, .cells = 1, .extent = 1}, {.cell = 8, .cells = 1, .extent = 1},
                                 {.cell = 4, .cells = 2, .extent = 2, .at = {0, 1}},
                                 {.cell = 4, .cells = 2, .extent = 2, .at = {0, 1}},
                                 {.cell = 4, .cells = 3, .extent = 7, .at = {0, 2, 4}},
                                 {.cell = 4, .cells = 3, .extent = 3, .at = {0, 1, 2}}};
static MPI_Op ops[OP_COUNT];

typedef struct {
  int64_t cell[MOST_CELLS];
} Item;

static uint64_t bits(uint64_t seed, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t z = seed * 0x9e3779b97f4a7c15u + a * 0xd1342543de82ef95u + b * 0xda942042e4dd58b5u + c * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static int64_t narrow(int type, int64_t value) {
  switch (type) {
    case BYTE_T: return (uint8_t)value;
    case SHORT_T: return (int16_t)value;
    case LONG_T: return value;
    case AFFINE_T: return (uint32_t)value;
    default: return (int32_t)value;
  }
}

/* Small whole numbers, whose sums are exact in any order in floating point, too. */
static Item value(int op, int type, uint64_t seed, int source, int destination, long index) {
  Item item = {{0}};
  for (int c = 0; c < types[type].cells; ++c) {
    const uint64_t raw = bits(seed, (uint64_t)source * 65536 + (uint64_t)destination, (uint64_t)index, (uint64_t)c);
    int64_t v = (int64_t)(raw % 201) - 100;
    if (op == PROD) v = (int64_t)(1 + raw % 2);
    if (op == LAND || op == LOR) v = (int64_t)(raw % 2);
    if (type == AFFINE_T) v = (int64_t)(raw | (c == 0));
    if (op == MINLOC || op == MAXLOC) v = (int64_t)(raw % (c == 0 ? 20 : 1000));
    item.cell[c] = narrow(type, v);
  }
  return item;
}

static void affine(const uint32_t* a, const uint32_t* b, uint32_t* result) { /* first a, then b; not commutative */
  const uint32_t factor = a[0] * b[0], term = a[1] * b[0] + b[1];
  result[0] = factor;
  result[1] = term;
}

static Item fold(int op, int type, Item a, Item b) {
  Item result = b;
  const int64_t x = a.cell[0], y = b.cell[0];
  switch (op) {
    case USER_SUM:
    case SUM: result.cell[0] = x + y; break;
    case PROD: result.cell[0] = x * y; break;
    case MAX: result.cell[0] = x > y ? x : y; break;
    case MIN: result.cell[0] = x < y ? x : y; break;
    case BAND: result.cell[0] = x & y; break;
    case BOR: result.cell[0] = x | y; break;
    case BXOR: result.cell[0] = x ^ y; break;
    case LAND: result.cell[0] = x && y; break;
    case LOR: result.cell[0] = x || y; break;
    case MINLOC: result = x < y || (x == y && a.cell[1] < b.cell[1]) ? a : b; break;
    case MAXLOC: result = x > y || (x == y && a.cell[1] < b.cell[1]) ? a : b; break;
    case AFFINE: {
      const uint32_t first[2] = {(uint32_t)a.cell[0], (uint32_t)a.cell[1]}, then[2] = {(uint32_t)y, (uint32_t)b.cell[1]};
      uint32_t both[2];
      affine(first, then, both);
      result.cell[0] = both[0];
      result.cell[1] = both[1];
    }
  }
  result.cell[0] = narrow(type, result.cell[0]);
  return result;
}

static void put(int type, char* buffer, long index, Item item) {
  const Type* t = &types[type];
  for (int c = 0; c < t->cells; ++c) {
    char* to = buffer + (size_t)t->cell * (size_t)(index * t->extent + t->at[c]);
    const int64_t v = item.cell[c];
    if (type == FLOAT_T) {
      const float f = (float)v;
      memcpy(to, &f, sizeof f);
    } else if (type == DOUBLE_T) {
      const double d = (double)v;
      memcpy(to, &d, sizeof d);
    } else {
      memcpy(to, &v, (size_t)t->cell); /* little-endian */
    }
  }
}

static void apply_affine(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  uint32_t *a = in, *b = inout;
  for (int i = 0; i < *length; ++i) affine(a + 2 * i, b + 2 * i, b + 2 * i);
}

static void apply_sum(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  const int32_t* a = in;
  int32_t* b = inout;
  for (int i = 0; i < *length; ++i) b[i] += a[i];
}

static void make_types(void) {
  const MPI_Datatype named[] = {MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_2INT};
  for (int i = 0; i < 7; ++i) types[i].type = named[i];
  MPI_Datatype vector;
  MPI_Type_contiguous(2, MPI_UINT32_T, &types[AFFINE_T].type);
  MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 7 * 4, &types[HOLES_T].type);
  MPI_Type_free(&vector);
  MPI_Type_contiguous(3, MPI_INT, &types[TRIPLE_T].type);
  for (int i = AFFINE_T; i < TYPE_COUNT; ++i) MPI_Type_commit(&types[i].type);
  const MPI_Op known[] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,    MPI_BAND,  MPI_BOR,
                          MPI_BXOR, MPI_LAND, MPI_LOR, MPI_MINLOC, MPI_MAXLOC};
  for (int i = 0; i < 11; ++i) ops[i] = known[i];
  MPI_Op_create(apply_affine, 0, &ops[AFFINE]);
  MPI_Op_create(apply_sum, 1, &ops[USER_SUM]);
}

static void free_types(void) {
  for (int i = AFFINE_T; i < TYPE_COUNT; ++i) MPI_Type_free(&types[i].type);
  MPI_Op_free(&ops[AFFINE]);
  MPI_Op_free(&ops[USER_SUM]);
}

#endif
