/* Calling a kernel from Python: the first version whose format fits gets its arguments unpacked into slots of 64 bits.

   An array becomes what Numba's array structure holds: two owners (none here: the caller keeps it alive), the number
   of elements, the bytes of one, the address, the shape, the strides. */
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NO_IMPORT_ARRAY
#define PY_ARRAY_UNIQUE_SYMBOL chainfield_numpy
#include "kernels.h"
#include <numpy/arrayobject.h>
#include <string.h>

enum { OK = 0, NONE = -2 }; /* what a kernel returns unless it fails */

static int unpack_array(const char *form, PyObject *value, int64_t **slot)
{
    if (!PyArray_Check(value)) return -1;
    PyArrayObject *array = (PyArrayObject *) value;
    int rank = form[2] - '0';
    if (PyArray_DESCR(array)->kind != form[0] || PyArray_ITEMSIZE(array) != form[1] - '0') return -1;
    if (PyArray_NDIM(array) != rank || !PyArray_IS_C_CONTIGUOUS(array)) return -1;
    if (!PyArray_ISALIGNED(array) || !PyArray_ISNOTSWAPPED(array)) return -1;
    if (form[3] == 'w' && !PyArray_ISWRITEABLE(array)) return -1;
    int64_t *to = *slot;
    to[0] = to[1] = 0;
    to[2] = PyArray_SIZE(array);
    to[3] = PyArray_ITEMSIZE(array);
    to[4] = (int64_t) (intptr_t) PyArray_DATA(array);
    for (int i = 0; i < rank; i++) {
        to[5 + i] = PyArray_DIM(array, i);
        to[5 + rank + i] = PyArray_STRIDE(array, i);
    }
    *slot += 5 + 2 * rank;
    return 0;
}

static int unpack_integer(PyObject *value, int64_t *to)
{
    if (!PyIndex_Check(value)) return -1;
    PyObject *number = PyNumber_Index(value);
    if (number == NULL) return -1;
    *to = PyLong_AsLongLong(number);
    Py_DECREF(number);
    return *to == -1 && PyErr_Occurred() ? -1 : 0;
}

static int unpack_float(PyObject *value, int64_t *to)
{
    if (!PyFloat_Check(value) && !PyLong_Check(value) && !PyArray_IsScalar(value, Floating) &&
        !PyArray_IsScalar(value, Integer))
        return -1;
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) return -1;
    memcpy(to, &number, sizeof number);
    return 0;
}

/* One argument; moves the format and the slot on. */
static int unpack(const char **format, PyObject *value, int64_t **slot)
{
    const char *form = *format;
    switch (*form) {
    case '(': {
        if (!PyTuple_Check(value)) return -1;
        Py_ssize_t n = PyTuple_GET_SIZE(value), i = 0;
        for ((*format)++; **format != ')'; i++)
            if (i >= n || unpack(format, PyTuple_GET_ITEM(value, i), slot)) return -1;
        (*format)++;
        return i == n ? 0 : -1;
    }
    case 'l':
        (*format)++;
        return unpack_integer(value, (*slot)++);
    case 'd':
        (*format)++;
        return unpack_float(value, (*slot)++);
    case '?':
        (*format)++;
        if (!PyBool_Check(value) && !PyArray_IsScalar(value, Bool)) return -1;
        *(*slot)++ = PyObject_IsTrue(value);
        return 0;
    default:
        *format += 4;
        return unpack_array(form, value, slot);
    }
}

/* One result; moves both on. */
static PyObject *pack(const char **format, const char **from)
{
    char kind = *(*format)++;
    const char *at = *from;
    if (kind == '?') return PyBool_FromLong(*(const unsigned char *) at);
    *from += 8;
    if (kind == 'l') return PyLong_FromLongLong(*(const int64_t *) at);
    return PyFloat_FromDouble(*(const double *) at);
}

static PyObject *pack_all(const char *format, const char *from)
{
    if (*format == 0) Py_RETURN_NONE;
    if (*format != '(') return pack(&format, &from);
    PyObject *tuple = PyTuple_New((Py_ssize_t) strlen(format) - 2);
    format++;
    for (Py_ssize_t i = 0; tuple != NULL && *format != ')'; i++) {
        PyObject *item = pack(&format, &from);
        if (item == NULL) Py_CLEAR(tuple);
        else PyTuple_SET_ITEM(tuple, i, item);
    }
    return tuple;
}

/* The error that a kernel raised, as Python's. */
static void raise_failure(const Kernel *kernel, const Failure *failure)
{
    PyObject *pickle = PyImport_ImportModule("pickle");
    PyObject *what = pickle == NULL ? NULL
        : PyObject_CallMethod(pickle, "loads", "y#", failure->pickle, (Py_ssize_t) failure->n_bytes);
    Py_XDECREF(pickle);
    if (what == NULL) return;
    PyObject *class = PyTuple_GetItem(what, 0), *arguments = PyTuple_GetItem(what, 1);
    if (class != NULL && arguments != NULL) {
        if (failure->dynamic) PyErr_Format(class, "inside of the kernel %s", kernel->name);
        else PyErr_SetObject(class, arguments);
    }
    Py_DECREF(what);
}

static PyObject *call(PyObject *self, PyObject *const *values, Py_ssize_t n_values)
{
    const Kernel *kernel = PyCapsule_GetPointer(self, NULL);
    if (kernel == NULL) return NULL;
    for (const Version *version = kernel->versions; version < kernel->versions + kernel->n_versions; version++) {
        int64_t slots[MOST_SLOTS], *slot = slots, result[MOST_RESULTS] = {0};
        const char *format = version->format;
        Py_ssize_t i = 0;
        while (*format && i < n_values && unpack(&format, values[i], &slot) == 0) i++;
        if (PyErr_Occurred()) PyErr_Clear();
        if (*format || i < n_values) continue;
        Failure *failure = NULL;
        int32_t status;
        Py_BEGIN_ALLOW_THREADS
        status = version->entry(slots, result, &failure);
        Py_END_ALLOW_THREADS
        if (status == OK || status == NONE) return pack_all(version->result, (const char *) result);
        if (status > 0 && failure != NULL) raise_failure(kernel, failure);
        if (!PyErr_Occurred()) PyErr_Format(PyExc_RuntimeError, "The kernel %s failed.", kernel->name);
        return NULL;
    }
    PyErr_Format(PyExc_TypeError,
                 "The kernel %s was not declared for these arguments; this is a mistake in chainfield.", kernel->name);
    return NULL;
}

static PyMethodDef METHOD = {"kernel", (PyCFunction) (void (*)(void)) call, METH_FASTCALL, NULL};

PyObject *chainfield_callable(const Kernel *kernel)
{
    PyObject *self = PyCapsule_New((void *) kernel, NULL, NULL);
    if (self == NULL) return NULL;
    PyObject *function = PyCFunction_New(&METHOD, self);
    Py_DECREF(self);
    return function;
}
