/* Kernels compiled ahead of time, as the tables of one build list them (they are generated: see build.py). */
#ifndef CHAINFIELD_KERNELS_H
#define CHAINFIELD_KERNELS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* What a kernel leaves behind when it raises: a pickled tuple (class, arguments, place). */
typedef struct {
    const char *pickle;
    int32_t n_bytes;
    const void *hash;
    const void *unwrap;
    int32_t dynamic; /* the pickle holds the arguments that were known to the compiler only */
} Failure;

enum { MOST_SLOTS = 1024, MOST_RESULTS = 8 };

/* Arguments lie in slots of 64 bits. */
typedef int32_t (*Entry)(int64_t *slots, void *result, Failure **failure);

/* A kernel for one kind of arguments; declare.py says how formats are written. */
typedef struct {
    const char *format; /* of the arguments */
    const char *result; /* of the result: l, d, ?, (...), or nothing for None */
    Entry entry;
} Version;

typedef struct {
    const char *name;
    int n_versions;
    const Version *versions;
} Kernel;

/* All kernels for one level of processors. */
typedef struct {
    const char *name;
    int n_kernels;
    const Kernel *kernels;
} Level;

extern const char CHAINFIELD_STAMP[];
extern const int CHAINFIELD_N_LEVELS;
extern const Level CHAINFIELD_LEVELS[];

PyObject *chainfield_callable(const Kernel *kernel);
int chainfield_supports(const char *level);

#endif
