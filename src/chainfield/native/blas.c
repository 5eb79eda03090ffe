/* Matrix products of kernels: SciPy's BLAS, looked up at the first product; plain loops where SciPy is not installed. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

typedef void (*Product)(char *, char *, int *, int *, int *, const void *, const void *, int *, const void *, int *,
                        const void *, void *, int *);

static Product find(const char *name)
{
    PyObject *module = PyImport_ImportModule("scipy.linalg.cython_blas");
    PyObject *table = module == NULL ? NULL : PyObject_GetAttrString(module, "__pyx_capi__");
    PyObject *capsule = table == NULL ? NULL : PyMapping_GetItemString(table, name);
    const char *signature = capsule == NULL ? NULL : PyCapsule_GetName(capsule);
    Product product = NULL;
    if (signature != NULL && strncmp(signature, "void (char *, char *, int *, int *, int *", 41) == 0) /* not 64-bit */
        product = (Product) PyCapsule_GetPointer(capsule, signature);
    Py_XDECREF(module);
    Py_XDECREF(table);
    Py_XDECREF(capsule);
    PyErr_Clear();
    return product;
}

/* C = alpha A B + beta C, all by columns; A and B may be transposed ('T'). */
#define PLAIN(NAME, REAL)                                                                                             \
    static void NAME(char *trans_a, char *trans_b, int *m, int *n, int *k, const void *alpha, const void *a, int *lda, \
                     const void *b, int *ldb, const void *beta, void *c, int *ldc)                                    \
    {                                                                                                                 \
        Py_ssize_t row_a = *trans_a == 'N' ? 1 : *lda, step_a = *trans_a == 'N' ? *lda : 1;                           \
        Py_ssize_t step_b = *trans_b == 'N' ? 1 : *ldb, column_b = *trans_b == 'N' ? *ldb : 1;                        \
        for (Py_ssize_t j = 0; j < *n; j++)                                                                           \
            for (Py_ssize_t i = 0; i < *m; i++) {                                                                     \
                REAL sum = 0, *to = (REAL *) c + i + j * *ldc;                                                        \
                for (Py_ssize_t p = 0; p < *k; p++)                                                                   \
                    sum += ((const REAL *) a)[i * row_a + p * step_a] * ((const REAL *) b)[p * step_b + j * column_b]; \
                *to = *(const REAL *) alpha * sum + (*(const REAL *) beta == 0 ? 0 : *(const REAL *) beta * *to);     \
            }                                                                                                         \
    }
PLAIN(plain_double, double)
PLAIN(plain_single, float)

/* As Numba declares it; kind is d or s. */
int numba_xxgemm(char kind, char trans_a, char trans_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, void *alpha, void *a,
                 Py_ssize_t lda, void *b, Py_ssize_t ldb, void *beta, void *c, Py_ssize_t ldc)
{
    static Product products[2];
    Product *product = &products[kind == 'd'];
    if (*product == NULL) {
        PyGILState_STATE state = PyGILState_Ensure();
        Product found = find(kind == 'd' ? "dgemm" : "sgemm");
        *product = found != NULL ? found : kind == 'd' ? plain_double : plain_single;
        PyGILState_Release(state);
    }
    int sizes[] = {(int) m, (int) n, (int) k, (int) lda, (int) ldb, (int) ldc};
    (*product)(&trans_a, &trans_b, &sizes[0], &sizes[1], &sizes[2], alpha, a, &sizes[3], b, &sizes[4], beta, c,
               &sizes[5]);
    return 0;
}

/* y = alpha A x + beta y, A (m, n) by columns, transposed if trans is 'T'. */
int numba_xxgemv(char kind, char trans, Py_ssize_t m, Py_ssize_t n, void *alpha, void *a, Py_ssize_t lda, void *x,
                 void *beta, void *y)
{
    Py_ssize_t rows = trans == 'N' ? m : n, columns = trans == 'N' ? n : m;
    return numba_xxgemm(kind, trans, 'N', rows, 1, columns, alpha, a, lda, x, columns, beta, y, rows);
}

int numba_xxdot(char kind, char conjugate, Py_ssize_t n, void *x, void *y, void *result)
{
    double one = 1.0, zero = 0.0;
    float single_one = 1.0f, single_zero = 0.0f;
    return kind == 'd' ? numba_xxgemm(kind, 'T', 'N', 1, 1, n, &one, x, n, y, n, &zero, result, 1)
                       : numba_xxgemm(kind, 'T', 'N', 1, 1, n, &single_one, x, n, y, n, &single_zero, result, 1);
}

void numba_gil_ensure(PyGILState_STATE *state)
{
    *state = PyGILState_Ensure();
}

void numba_gil_release(PyGILState_STATE *state)
{
    PyGILState_Release(*state);
}
