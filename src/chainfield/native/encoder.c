/* Dicts and lists of strings as names and values, laid end to end: the compiled twin of features/attributes.py.

   That module defines the rules and words the errors. This one knows the built-in types only: exactly str, bytes, dict,
   list, tuple, set, float, int and bool, and the number types it is told about. At anything else (a subclass, an
   iterator, a number that is not finite, bytes that are not UTF-8, dicts in dicts beyond the limit) it stops in front of
   the sequence, has consumed nothing, and leaves that sequence to the definition, which reads it or refuses it. So the
   two cannot disagree about what is rare.

   No code but this runs while a container is read, with one exception: before Python 3.12, the iterator of a set may
   start the garbage collector, and that any finalizer. Hence containers are held by references of their own, and a dict
   that has changed its size meanwhile is left to the definition as well. The interpreter's lock is held throughout. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum status { FAILED = -1, DONE = 0, UNUSUAL = 1 }; /* FAILED: an exception is set */

/* ---- arrays that grow ------------------------------------------------------------------------------------------- */

typedef struct {
    PyObject *owner; /* a bytearray, which Python reads through the buffer protocol */
    char *data;
    Py_ssize_t size, room; /* in bytes */
} Array;

static int make_room(Array *array, Py_ssize_t more)
{
    if (more > PY_SSIZE_T_MAX / 4 - array->size) {
        PyErr_NoMemory();
        return FAILED;
    }
    Py_ssize_t room = array->room < 256 ? 512 : 2 * array->room;
    if (room < array->size + more)
        room = array->size + more;
    if (array->owner == NULL)
        array->owner = PyByteArray_FromStringAndSize(NULL, room);
    else if (PyByteArray_Resize(array->owner, room) < 0)
        return FAILED;
    if (array->owner == NULL)
        return FAILED;
    array->data = PyByteArray_AS_STRING(array->owner);
    array->room = room;
    return DONE;
}

static inline int reserve(Array *array, Py_ssize_t more)
{
    return more <= array->room - array->size ? DONE : make_room(array, more);
}

static inline int push_int(Array *array, int64_t value)
{
    if (reserve(array, sizeof value) < 0)
        return FAILED;
    memcpy(array->data + array->size, &value, sizeof value);
    array->size += sizeof value;
    return DONE;
}

/* The bytearray, cut to what is used; the caller owns it. */
static PyObject *hand_over(Array *array)
{
    if (reserve(array, 0) < 0 || (array->owner == NULL && make_room(array, 0) < 0))
        return NULL;
    if (PyByteArray_Resize(array->owner, array->size) < 0)
        return NULL;
    PyObject *owner = array->owner;
    array->owner = NULL;
    return owner;
}

/* ---- what is read ----------------------------------------------------------------------------------------------- */

typedef struct {
    Array text;    /* the names in UTF-8, end to end */
    Array bounds;  /* int64: where each of them begins, and the end */
    Array values;  /* double: one per name, from the first on that is not 1 */
    Array indptr;  /* int64: the first name of each position, and the end */
    Array offsets; /* int64: the first position of each sequence, and the end */
    Array prefix;  /* what stands before the names of a nested dict or list */
    Py_ssize_t n_names, n_positions;
    Py_ssize_t n_others; /* values that are not 1 */
    Py_ssize_t deepest;
    PyObject *numbers; /* a tuple of types of numbers */
} Reader;

static inline void copy(char *to, const char *from, Py_ssize_t n)
{
    /* Names are short: two moves that overlap are quicker than a call. */
    if (n > 16) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        uint64_t head, tail;
        memcpy(&head, from, 8), memcpy(&tail, from + n - 8, 8);
        memcpy(to, &head, 8), memcpy(to + n - 8, &tail, 8);
    } else if (n >= 4) {
        uint32_t head, tail;
        memcpy(&head, from, 4), memcpy(&tail, from + n - 4, 4);
        memcpy(to, &head, 4), memcpy(to + n - 4, &tail, 4);
    } else {
        for (Py_ssize_t i = 0; i < n; i++)
            to[i] = from[i];
    }
}

/* UTF-8 of any string; surrogates are encoded like other characters ("surrogatepass"). */
static int put_characters(Array *out, PyObject *text)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(text);
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    if (n > PY_SSIZE_T_MAX / 8) {
        PyErr_NoMemory();
        return FAILED;
    }
    if (reserve(out, 4 * n) < 0)
        return FAILED;
    unsigned char *to = (unsigned char *)out->data + out->size;
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ(kind, data, i);
        if (c < 0x80) {
            *to++ = (unsigned char)c;
            continue;
        }
        if (c < 0x800) {
            *to++ = (unsigned char)(0xC0 | c >> 6);
        } else {
            if (c < 0x10000) {
                *to++ = (unsigned char)(0xE0 | c >> 12);
            } else {
                *to++ = (unsigned char)(0xF0 | c >> 18);
                *to++ = (unsigned char)(0x80 | (c >> 12 & 0x3F));
            }
            *to++ = (unsigned char)(0x80 | (c >> 6 & 0x3F));
        }
        *to++ = (unsigned char)(0x80 | (c & 0x3F));
    }
    out->size = (char *)to - out->data;
    return DONE;
}

static int put_bytes(Array *out, PyObject *bytes)
{
    Py_ssize_t n = PyBytes_GET_SIZE(bytes);
    PyObject *decoded = PyUnicode_DecodeUTF8(PyBytes_AS_STRING(bytes), n, NULL);
    if (decoded == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
            return FAILED;
        PyErr_Clear();
        return UNUSUAL;
    }
    Py_DECREF(decoded);
    if (reserve(out, n) < 0)
        return FAILED;
    memcpy(out->data + out->size, PyBytes_AS_STRING(bytes), n);
    out->size += n;
    return DONE;
}

static inline int put_text(Array *out, PyObject *text)
{
    if (!PyUnicode_CheckExact(text))
        return PyBytes_CheckExact(text) ? put_bytes(out, text) : UNUSUAL;
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(text) < 0)
        return FAILED;
#endif
    if (!PyUnicode_IS_COMPACT_ASCII(text))
        return put_characters(out, text);
    Py_ssize_t n = PyUnicode_GET_LENGTH(text);
    if (reserve(out, n) < 0)
        return FAILED;
    copy(out->data + out->size, (const char *)PyUnicode_1BYTE_DATA(text), n);
    out->size += n;
    return DONE;
}

static inline int put_colon(Array *out)
{
    if (reserve(out, 1) < 0)
        return FAILED;
    out->data[out->size++] = ':';
    return DONE;
}

/* A name begins with what it is nested in. */
static inline int begin_name(Reader *r)
{
    if (r->prefix.size == 0)
        return DONE;
    if (reserve(&r->text, r->prefix.size) < 0)
        return FAILED;
    memcpy(r->text.data + r->text.size, r->prefix.data, r->prefix.size);
    r->text.size += r->prefix.size;
    return DONE;
}

static int end_name_with(Reader *r, double value)
{
    const double one = 1.0;
    Py_ssize_t end = r->n_names * (Py_ssize_t)sizeof one;
    if (end > r->values.size && reserve(&r->values, end - r->values.size) < 0)
        return FAILED;
    for (; r->values.size < end; r->values.size += sizeof one)
        memcpy(r->values.data + r->values.size, &one, sizeof one);
    if (reserve(&r->values, sizeof value) < 0)
        return FAILED;
    memcpy(r->values.data + end, &value, sizeof value);
    r->values.size = end + sizeof value;
    r->n_others++;
    r->n_names++;
    return push_int(&r->bounds, r->text.size);
}

static inline int end_name(Reader *r, double value)
{
    if (value != 1.0)
        return end_name_with(r, value);
    r->n_names++;
    return push_int(&r->bounds, r->text.size);
}

static int number_of(Reader *r, PyObject *value, double *number)
{
    if (PyFloat_CheckExact(value)) {
        *number = PyFloat_AS_DOUBLE(value);
    } else if (PyBool_Check(value)) {
        *number = value == Py_True;
    } else if (PyLong_CheckExact(value)) {
        *number = PyLong_AsDouble(value);
        if (*number == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return UNUSUAL;
        }
    } else {
        Py_ssize_t i = 0, n = PyTuple_GET_SIZE(r->numbers);
        while (i < n && (PyObject *)Py_TYPE(value) != PyTuple_GET_ITEM(r->numbers, i))
            i++;
        PyObject *converted = i < n ? PyNumber_Float(value) : NULL;
        if (converted == NULL) {
            PyErr_Clear();
            return UNUSUAL;
        }
        *number = PyFloat_AS_DOUBLE(converted);
        Py_DECREF(converted);
    }
    return isfinite(*number) ? DONE : UNUSUAL;
}

/* ---- containers ------------------------------------------------------------------------------------------------- */

static inline int read_string(Reader *r, PyObject *text)
{
    int status = begin_name(r);
    if (status == DONE)
        status = put_text(&r->text, text);
    return status == DONE ? end_name(r, 1.0) : status;
}

static int read_list(Reader *r, PyObject *list)
{
    int status = DONE;
    for (Py_ssize_t i = 0; status == DONE && i < PyList_GET_SIZE(list); i++)
        status = read_string(r, PyList_GET_ITEM(list, i));
    return status;
}

static int read_tuple(Reader *r, PyObject *tuple)
{
    int status = DONE;
    for (Py_ssize_t i = 0; status == DONE && i < PyTuple_GET_SIZE(tuple); i++)
        status = read_string(r, PyTuple_GET_ITEM(tuple, i));
    return status;
}

typedef struct {
    const char *text;
    Py_ssize_t size;
} Piece;

static int compare_pieces(const void *a, const void *b)
{
    const Piece *one = a, *other = b;
    int order = memcmp(one->text, other->text, one->size < other->size ? one->size : other->size);
    return order != 0 ? order : (one->size > other->size) - (one->size < other->size);
}

/* Put the names from the given one on in the order of their bytes, which is the order of their characters. */
static int sort_names(Reader *r, Py_ssize_t from)
{
    Py_ssize_t n = r->n_names - from;
    if (n < 2)
        return DONE;
    int64_t *bounds = (int64_t *)r->bounds.data + from;
    int64_t start = bounds[0];
    Py_ssize_t size = r->text.size - start;
    Piece *pieces = PyMem_New(Piece, n);
    char *texts = PyMem_Malloc(size + 1);
    if (pieces == NULL || texts == NULL) {
        PyMem_Free(pieces);
        PyMem_Free(texts);
        PyErr_NoMemory();
        return FAILED;
    }
    memcpy(texts, r->text.data + start, size);
    for (Py_ssize_t i = 0; i < n; i++)
        pieces[i] = (Piece){texts + (bounds[i] - start), bounds[i + 1] - bounds[i]};
    qsort(pieces, n, sizeof *pieces, compare_pieces);
    for (Py_ssize_t i = 0; i < n; i++) {
        memcpy(r->text.data + bounds[i], pieces[i].text, pieces[i].size);
        bounds[i + 1] = bounds[i] + pieces[i].size;
    }
    PyMem_Free(pieces);
    PyMem_Free(texts);
    return DONE;
}

static int read_set(Reader *r, PyObject *set)
{
    Py_ssize_t from = r->n_names;
    int status = DONE;
    PyObject *text, *iterator = PyObject_GetIter(set);
    if (iterator == NULL)
        return FAILED;
    while (status == DONE && (text = PyIter_Next(iterator)) != NULL) {
        status = read_string(r, text);
        Py_DECREF(text);
    }
    Py_DECREF(iterator);
    if (status == DONE && PyErr_Occurred()) { /* the set has changed its size */
        PyErr_Clear();
        return UNUSUAL;
    }
    return status == DONE ? sort_names(r, from) : status;
}

static int read_dict(Reader *r, PyObject *dict, Py_ssize_t depth);

/* A dict, list or set within a dict; the text from ``start`` on is the name that leads to it. */
static int read_nested(Reader *r, PyObject *value, Py_ssize_t start, Py_ssize_t depth)
{
    Py_ssize_t outer = r->prefix.size, own = r->text.size - start - outer;
    if (reserve(&r->prefix, own + 1) < 0)
        return FAILED;
    memcpy(r->prefix.data + outer, r->text.data + start + outer, own);
    r->prefix.data[outer + own] = ':';
    r->prefix.size += own + 1;
    r->text.size = start;
    Py_INCREF(value);
    int status = PyDict_CheckExact(value)   ? read_dict(r, value, depth + 1)
                 : PyList_CheckExact(value) ? read_list(r, value)
                                            : read_set(r, value);
    Py_DECREF(value);
    r->prefix.size = outer;
    return status;
}

static int read_dict(Reader *r, PyObject *dict, Py_ssize_t depth)
{
    if (depth > r->deepest)
        return UNUSUAL;
    Py_ssize_t at = 0, n = PyDict_GET_SIZE(dict);
    PyObject *key, *value;
    int status = DONE;
    while (PyDict_Next(dict, &at, &key, &value)) {
        Py_ssize_t start = r->text.size;
        double number = 1.0;
        if ((status = begin_name(r)) != DONE || (status = put_text(&r->text, key)) != DONE)
            return status;
        if (PyUnicode_CheckExact(value) || PyBytes_CheckExact(value)) {
            if ((status = put_colon(&r->text)) == DONE && (status = put_text(&r->text, value)) == DONE)
                status = end_name(r, number);
        } else if (PyDict_CheckExact(value) || PyList_CheckExact(value) || PyAnySet_CheckExact(value)) {
            /* A frozen set is no value. */
            status = Py_IS_TYPE(value, &PyFrozenSet_Type) ? UNUSUAL : read_nested(r, value, start, depth);
            if (status == DONE && PyDict_GET_SIZE(dict) != n)
                status = UNUSUAL;
        } else if ((status = number_of(r, value, &number)) == DONE) {
            status = end_name(r, number);
        }
        if (status != DONE)
            return status;
    }
    return DONE;
}

static int read_item(Reader *r, PyObject *item)
{
    int status = UNUSUAL;
    if (PyDict_CheckExact(item))
        status = read_dict(r, item, 1);
    else if (PyList_CheckExact(item))
        status = read_list(r, item);
    else if (PyTuple_CheckExact(item))
        status = read_tuple(r, item);
    else if (PyAnySet_CheckExact(item))
        status = read_set(r, item);
    if (status == DONE) {
        r->n_positions++;
        status = push_int(&r->indptr, r->n_names);
    }
    return status;
}

static inline Py_ssize_t size_of(PyObject *sequence)
{
    return PyList_CheckExact(sequence) ? PyList_GET_SIZE(sequence) : PyTuple_GET_SIZE(sequence);
}

static inline PyObject *entry_of(PyObject *sequence, Py_ssize_t i)
{
    return PyList_CheckExact(sequence) ? PyList_GET_ITEM(sequence, i) : PyTuple_GET_ITEM(sequence, i);
}

/* One whole sequence, or nothing of it. */
static int read_sequence(Reader *r, PyObject *sequence)
{
    if (!PyList_CheckExact(sequence) && !PyTuple_CheckExact(sequence))
        return UNUSUAL;
    Reader before = *r;
    int status = DONE;
    for (Py_ssize_t i = 0; status == DONE && i < size_of(sequence); i++) {
        PyObject *item = entry_of(sequence, i);
        Py_INCREF(item);
        status = read_item(r, item);
        Py_DECREF(item);
    }
    if (status == DONE)
        return push_int(&r->offsets, r->n_positions);
    r->text.size = before.text.size;
    r->bounds.size = before.bounds.size;
    r->indptr.size = before.indptr.size;
    r->n_names = before.n_names;
    r->n_positions = before.n_positions;
    r->n_others = before.n_others;
    if (r->values.size > before.n_names * (Py_ssize_t)sizeof(double))
        r->values.size = before.n_names * (Py_ssize_t)sizeof(double);
    return status;
}

/* The values, filled up with ones; None if all are 1. */
static PyObject *hand_over_values(Reader *r)
{
    if (r->n_others == 0)
        Py_RETURN_NONE;
    Py_ssize_t end = r->n_names * (Py_ssize_t)sizeof(double);
    const double one = 1.0;
    if (reserve(&r->values, end - r->values.size) < 0)
        return NULL;
    for (; r->values.size < end; r->values.size += sizeof one)
        memcpy(r->values.data + r->values.size, &one, sizeof one);
    return hand_over(&r->values);
}

/* ---- for Python ------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(flatten_doc,
             "flatten(sequences, start, limit, deepest, padding, numbers)\n--\n\n"
             "Read sequences from the one numbered start on, until there are limit names or something unusual comes.\n\n"
             "Returns (stop, offsets, indptr, bounds, text, values): the sequences start to stop as arrays of int64,\n"
             "UTF-8 with zeros behind it (padding), and float64 (None: all values are 1).");

static PyObject *flatten(PyObject *module, PyObject *args)
{
    PyObject *sequences, *result = NULL;
    Py_ssize_t start, limit, padding;
    Reader reader = {.n_names = 0}, *r = &reader;
    if (!PyArg_ParseTuple(args, "OnnnnO!:flatten", &sequences, &start, &limit, &r->deepest, &padding, &PyTuple_Type,
                          &r->numbers))
        return NULL;
    if (!PyList_CheckExact(sequences) && !PyTuple_CheckExact(sequences)) {
        PyErr_SetString(PyExc_TypeError, "sequences must be a list or a tuple");
        return NULL;
    }
    if (start < 0 || padding < 0) {
        PyErr_SetString(PyExc_ValueError, "start and padding must not be negative");
        return NULL;
    }
    int status = push_int(&r->offsets, 0);
    if (status == DONE)
        status = push_int(&r->indptr, 0);
    if (status == DONE)
        status = push_int(&r->bounds, 0);
    if (status == DONE)
        status = reserve(&r->text, 1); /* so that there is an address, also of nothing */
    Py_ssize_t at = start;
    while (status == DONE && at < size_of(sequences) && (at == start || r->n_names < limit)) {
        PyObject *sequence = entry_of(sequences, at);
        Py_INCREF(sequence);
        status = read_sequence(r, sequence);
        Py_DECREF(sequence);
        at += status == DONE;
    }
    if (status != FAILED && reserve(&r->text, padding) == DONE) {
        if (padding > 0)
            memset(r->text.data + r->text.size, 0, padding);
        r->text.size += padding;
        PyObject *offsets = hand_over(&r->offsets), *indptr = hand_over(&r->indptr), *bounds = hand_over(&r->bounds);
        PyObject *text = hand_over(&r->text), *values = hand_over_values(r);
        if (offsets != NULL && indptr != NULL && bounds != NULL && text != NULL && values != NULL)
            result = Py_BuildValue("nOOOOO", at, offsets, indptr, bounds, text, values);
        Py_XDECREF(offsets);
        Py_XDECREF(indptr);
        Py_XDECREF(bounds);
        Py_XDECREF(text);
        Py_XDECREF(values);
    }
    Py_XDECREF(r->text.owner);
    Py_XDECREF(r->bounds.owner);
    Py_XDECREF(r->values.owner);
    Py_XDECREF(r->indptr.owner);
    Py_XDECREF(r->offsets.owner);
    Py_XDECREF(r->prefix.owner);
    return result;
}

static PyMethodDef functions[] = {{"flatten", flatten, METH_VARARGS, flatten_doc}, {NULL, NULL, 0, NULL}};

int chainfield_add_encoder(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
