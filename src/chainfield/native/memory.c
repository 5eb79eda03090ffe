/* What compiled kernels ask of Numba's runtime: memory for their scratch arrays, which never leave the kernel. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* As compiled code sees it: it counts references at the beginning and reads the address. */
typedef struct {
    size_t references;
    void *destroy, *destroy_extra;
    void *data;
    size_t size;
    void *allocator;
} Memory;

Memory *NRT_MemInfo_alloc_aligned(size_t size, unsigned align)
{
    if (size > PTRDIFF_MAX - sizeof(Memory) - align) return NULL;
    Memory *memory = malloc(sizeof(Memory) + size + align);
    if (memory == NULL) return NULL;
    uintptr_t first = (uintptr_t) (memory + 1), over = align ? first % align : 0;
    *memory = (Memory){.references = 1, .data = (void *) (over ? first + align - over : first), .size = size};
    return memory;
}

Memory *NRT_MemInfo_alloc(size_t size)
{
    return NRT_MemInfo_alloc_aligned(size, 16);
}

/* The last reference is gone. */
void NRT_MemInfo_call_dtor(Memory *memory)
{
    free(memory);
}

void *NRT_Allocate(size_t size)
{
    return malloc(size);
}

void NRT_Free(void *pointer)
{
    free(pointer);
}

/* The strides of another shape for an array in C order; 0 if it is in another one. */
int numba_attempt_nocopy_reshape(intptr_t rank, const intptr_t *shape, const intptr_t *strides, intptr_t new_rank,
                                 const intptr_t *new_shape, intptr_t *new_strides, intptr_t item, int fortran)
{
    intptr_t expected = item, size = 1;
    for (intptr_t i = 0; i < rank; i++) size *= shape[i];
    for (intptr_t i = rank - 1; size > 0 && i >= 0; i--) { /* an array without numbers has strides of any kind */
        if (shape[i] != 1 && strides[i] != expected) return 0;
        expected *= shape[i];
    }
    if (fortran) return 0;
    intptr_t stride = item;
    for (intptr_t i = new_rank - 1; i >= 0; i--) {
        new_strides[i] = stride;
        stride *= new_shape[i];
    }
    return 1;
}
