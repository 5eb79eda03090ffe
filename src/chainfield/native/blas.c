/* Products of kernels: SciPy's BLAS, looked up at the first product; plain loops where SciPy is not installed.

   Matrices lie by columns. A letter n or t says whether one is used as it lies or transposed; kinds of numbers are d
   and s. The functions have the names that Numba gives them. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

typedef void (*Product)(char *, char *, int *, int *, int *, const void *, const void *, int *, const void *, int *,
                        const void *, void *, int *);
typedef void (*Vector)(char *, int *, int *, const void *, const void *, int *, const void *, int *, const void *, void *,
                       int *);

/* A function of BLAS, if its arguments begin like this (there is a BLAS with integers of 64 bits); NULL: there is none. */
static void *find(const char *name, const char *begin)
{
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *module = PyImport_ImportModule("scipy.linalg.cython_blas");
    PyObject *table = module == NULL ? NULL : PyObject_GetAttrString(module, "__pyx_capi__");
    PyObject *capsule = table == NULL ? NULL : PyMapping_GetItemString(table, name);
    const char *signature = capsule == NULL ? NULL : PyCapsule_GetName(capsule);
    void *function = NULL;
    if (signature != NULL && strncmp(signature, begin, strlen(begin)) == 0)
        function = PyCapsule_GetPointer(capsule, signature);
    Py_XDECREF(module);
    Py_XDECREF(table);
    Py_XDECREF(capsule);
    PyErr_Clear();
    PyGILState_Release(state);
    return function;
}

static int transposed(char letter)
{
    return letter == 't' || letter == 'T';
}

/* C = alpha A B + beta C. */
#define PLAIN(NAME, REAL)                                                                                             \
    static void NAME(char *trans_a, char *trans_b, int *m, int *n, int *k, const void *alpha, const void *a, int *lda, \
                     const void *b, int *ldb, const void *beta, void *c, int *ldc)                                    \
    {                                                                                                                 \
        Py_ssize_t row_a = transposed(*trans_a) ? *lda : 1, step_a = transposed(*trans_a) ? 1 : *lda;                 \
        Py_ssize_t step_b = transposed(*trans_b) ? *ldb : 1, column_b = transposed(*trans_b) ? 1 : *ldb;              \
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

int numba_xxgemm(char kind, char trans_a, char trans_b, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, void *alpha, void *a,
                 Py_ssize_t lda, void *b, Py_ssize_t ldb, void *beta, void *c, Py_ssize_t ldc)
{
    static Product products[2];
    Product *product = &products[kind == 'd'];
    if (*product == NULL) {
        Product found = (Product) find(kind == 'd' ? "dgemm" : "sgemm", "void (char *, char *, int *, int *, int *");
        *product = found != NULL ? found : kind == 'd' ? plain_double : plain_single;
    }
    int sizes[] = {(int) m, (int) n, (int) k, (int) lda, (int) ldb, (int) ldc};
    (*product)(&trans_a, &trans_b, &sizes[0], &sizes[1], &sizes[2], alpha, a, &sizes[3], b, &sizes[4], beta, c,
               &sizes[5]);
    return 0;
}

/* y = alpha A x + beta y for A (m, n). */
int numba_xxgemv(char kind, char trans, Py_ssize_t m, Py_ssize_t n, void *alpha, void *a, Py_ssize_t lda, void *x,
                 void *beta, void *y)
{
    static int looked[2];
    static Vector vectors[2];
    int which = kind == 'd';
    if (!looked[which]) {
        vectors[which] = (Vector) find(which ? "dgemv" : "sgemv", "void (char *, int *, int *");
        looked[which] = 1;
    }
    if (vectors[which] == NULL) {
        Py_ssize_t rows = transposed(trans) ? n : m, columns = transposed(trans) ? m : n;
        return numba_xxgemm(kind, trans, 'n', rows, 1, columns, alpha, a, lda, x, columns, beta, y, rows);
    }
    int sizes[] = {(int) m, (int) n, (int) lda, 1};
    vectors[which](&trans, &sizes[0], &sizes[1], alpha, a, &sizes[2], x, &sizes[3], beta, y, &sizes[3]);
    return 0;
}

int numba_xxdot(char kind, char conjugate, Py_ssize_t n, void *x, void *y, void *result)
{
    double one = 1.0, zero = 0.0;
    float single_one = 1.0f, single_zero = 0.0f;
    void *alpha = kind == 'd' ? (void *) &one : &single_one, *beta = kind == 'd' ? (void *) &zero : &single_zero;
    return numba_xxgemv(kind, 't', n, 1, alpha, x, n, y, beta, result);
}

void numba_gil_ensure(PyGILState_STATE *state)
{
    *state = PyGILState_Ensure();
}

void numba_gil_release(PyGILState_STATE *state)
{
    PyGILState_Release(*state);
}
