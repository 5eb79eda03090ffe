/* The module chainfield._native: kernels for the levels of processors that it was built for. */
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL chainfield_numpy
#include "kernels.h"
#include <numpy/arrayobject.h>
#include <string.h>

int chainfield_add_encoder(PyObject *module); /* encoder.c */

/* Whether this processor has a level; "generic" is what every processor of the platform has. */
int chainfield_supports(const char *level)
{
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    int v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("ssse3");
    int v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
        __builtin_cpu_supports("bmi2");
    int v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (strcmp(level, "x86-64-v2") == 0) return v2;
    if (strcmp(level, "x86-64-v3") == 0) return v3;
    if (strcmp(level, "x86-64-v4") == 0) return v4;
#endif
    return strcmp(level, "generic") == 0;
}

static PyObject *names(int (*wanted)(const char *))
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < CHAINFIELD_N_LEVELS; i++) {
        if (wanted != NULL && !wanted(CHAINFIELD_LEVELS[i].name)) continue;
        PyObject *name = PyUnicode_FromString(CHAINFIELD_LEVELS[i].name);
        if (name == NULL || PyList_Append(list, name)) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *levels(PyObject *self, PyObject *none)
{
    return names(NULL);
}

static PyObject *supported(PyObject *self, PyObject *none)
{
    return names(chainfield_supports);
}

static PyObject *kernels(PyObject *self, PyObject *name)
{
    const char *wanted = PyUnicode_AsUTF8(name);
    if (wanted == NULL) return NULL;
    for (int i = 0; i < CHAINFIELD_N_LEVELS; i++) {
        const Level *level = &CHAINFIELD_LEVELS[i];
        if (strcmp(level->name, wanted) != 0) continue;
        PyObject *table = PyDict_New();
        for (int j = 0; table != NULL && j < level->n_kernels; j++) {
            PyObject *function = chainfield_callable(&level->kernels[j]);
            if (function == NULL || PyDict_SetItemString(table, level->kernels[j].name, function)) Py_CLEAR(table);
            Py_XDECREF(function);
        }
        return table;
    }
    PyErr_SetObject(PyExc_KeyError, name);
    return NULL;
}

static PyMethodDef METHODS[] = {
    {"levels", levels, METH_NOARGS, "The levels of processors in this module, ascending."},
    {"supported", supported, METH_NOARGS, "Those that this processor has."},
    {"kernels", kernels, METH_O, "The kernels of one level, by name."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, "chainfield._native", NULL, -1, METHODS};

PyMODINIT_FUNC PyInit__native(void)
{
    import_array();
    PyObject *module = PyModule_Create(&MODULE);
    if (module == NULL) return NULL;
    if (PyModule_AddStringConstant(module, "STAMP", CHAINFIELD_STAMP)) goto failed;
    if (chainfield_add_encoder(module)) goto failed;
    return module;
failed:
    Py_DECREF(module);
    return NULL;
}
