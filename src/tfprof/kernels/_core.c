/* The compiled core: hot loops over columns, with the results of the NumPy code beside them.

   Arguments are contiguous arrays: bytes as uint8, all other numbers as int64 or uint64. Every
   offset is checked against its buffer before a byte is read. A function returns None where it
   leaves the input to the NumPy code: damaged messages, so that one place words all errors, and
   strings made to collide.

       scan, lines, names                                    fields of protobuf messages and of text
       hashes, equal, first, put                             of many slices of a blob
       intern, find, order                                   of columns of strings
       walk, scopes, ends, parents                           of graphs and trees
       scaled                                                numbers as text
*/

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    Py_buffer view;
    Py_ssize_t size; /* items */
} Array;

#define BYTES_OF(array) ((const uint8_t *)(array).view.buf)
#define NUMBERS_OF(array) ((const int64_t *)(array).view.buf)

static void close_arrays(Array *arrays, int count) {
    while (count-- > 0) PyBuffer_Release(&arrays[count].view);
}

static int overlap(const Py_buffer *a, const Py_buffer *b) {
    return (uintptr_t)a->buf < (uintptr_t)b->buf + b->len &&
           (uintptr_t)b->buf < (uintptr_t)a->buf + a->len;
}

/* Opens the arrays that `kinds` describes by two letters each: b for bytes or n for numbers, a
   capital if it is written to; then its size: that of the array with this index, ! one item, * any.
   Returns 0, with an exception or if a kernel does not take these. */
static int open_arrays(PyObject *args, const char *kinds, Array *arrays) {
    int count = (int)strlen(kinds) / 2, at = 0, fits = 1;
    if (PyTuple_Size(args) != count)
        PyErr_Format(PyExc_TypeError, "%d arguments are expected", count);
    else
        for (; at < count; at++) {
            Py_buffer *view = &arrays[at].view;
            Py_ssize_t width = (kinds[2 * at] | 32) == 'b' ? 1 : 8;
            int writable = kinds[2 * at] < 'a' ? PyBUF_WRITABLE : PyBUF_SIMPLE;
            if (PyObject_GetBuffer(PyTuple_GetItem(args, at), view, writable) < 0) break;
            arrays[at].size = view->len / width;
            fits &= (view->itemsize == width || view->itemsize == 1) && view->len % width == 0 &&
                    (uintptr_t)view->buf % width == 0;
        }
    for (int one = 0; at == count && one < count; one++) {
        char kind = kinds[2 * one], size = kinds[2 * one + 1];
        if (size != '*') fits &= arrays[one].size == (size == '!' ? 1 : arrays[size - '0'].size);
        /* What a kernel writes must not change offsets that it has checked. */
        for (int other = 0; kind < 'a' && other < count; other++)
            if (other != one && (kind == 'N' || kinds[2 * other] == 'n' || kinds[2 * other] == 'N'))
                fits &= !overlap(&arrays[one].view, &arrays[other].view);
    }
    if (at == count && fits) return 1;
    close_arrays(arrays, at);
    return 0;
}

static PyObject *left_to_numpy(void) {
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* What a kernel returns: a number that is not negative, or this. */
enum { LEFT_TO_NUMPY = -1, DONE = 0, MOST_ARRAYS = 9 };

static PyObject *run(PyObject *args, const char *kinds, int64_t (*kernel)(const Array *)) {
    Array arrays[MOST_ARRAYS];
    if (!open_arrays(args, kinds, arrays)) return left_to_numpy();
    int64_t result;
    Py_BEGIN_ALLOW_THREADS; /* as in NumPy, nobody may write to these arrays meanwhile */
    result = kernel(arrays);
    Py_END_ALLOW_THREADS;
    close_arrays(arrays, (int)strlen(kinds) / 2);
    return result == LEFT_TO_NUMPY ? left_to_numpy() : PyLong_FromLongLong(result);
}

#define KERNEL(name, kinds)                                   \
    static int64_t name##_kernel(const Array *arrays);        \
    static PyObject *name(PyObject *self, PyObject *args) {   \
        (void)self;                                           \
        return run(args, kinds, name##_kernel);               \
    }                                                         \
    static int64_t name##_kernel(const Array *arrays)

static uint64_t word_at(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The first `left` bytes, fewer than eight, as a word. */
static uint64_t tail_at(const uint8_t *at, int64_t left) {
    uint64_t word = 0;
    for (int64_t index = left; index-- > 0;) word = word << 8 | at[index];
    return word;
}

/* Where a slice begins; an empty one may claim to begin anywhere. */
static const uint8_t *slice_at(const uint8_t *blob, int64_t start, int64_t length) {
    return length ? blob + start : blob;
}

/* Whether all slices are inside of a blob of `size` bytes. */
static int inside(Array start, Array length, int64_t size) {
    const int64_t *begin = NUMBERS_OF(start), *count = NUMBERS_OF(length);
    int64_t wrong = 0;
    for (Py_ssize_t row = 0; row < start.size; row++)
        /* An empty slice may begin anywhere: nothing of it is read. */
        wrong |= count[row] < 0 || (count[row] && (begin[row] < 0 || begin[row] > size - count[row]));
    return !wrong;
}

/* --- protobuf ---------------------------------------------------------------------------- */

enum { VARINT = 0, FIXED64 = 1, DELIMITED = 2, FIXED32 = 5, FIELD_NUMBERS = 64 };
enum { TEXT_LEVELS = 8, LONGEST_NAME = 64, KNOWN_NAME = 16 };

/* One column of int64 that grows. */
typedef struct {
    PyObject *bytes; /* a bytearray */
    int64_t *items;
    Py_ssize_t room;
} Column;

static int resize(Column *column, Py_ssize_t room) {
    if (!column->bytes && !(column->bytes = PyByteArray_FromStringAndSize(NULL, 0))) return 0;
    if (PyByteArray_Resize(column->bytes, room * 8) < 0) return 0;
    column->items = (int64_t *)PyByteArray_AsString(column->bytes);
    column->room = room;
    return 1;
}

typedef struct {
    Column message, start, value;
    Py_ssize_t size, likely; /* how many there are, and will be */
} Fields;

static int grow(Fields *fields, Py_ssize_t room) {
    return resize(&fields->message, room) && resize(&fields->start, room) &&
           resize(&fields->value, room);
}

/* The same while other threads may run. */
static int grow_alone(Fields *fields, Py_ssize_t room, PyThreadState **others) {
    PyEval_RestoreThread(*others);
    int fine = grow(fields, room);
    *others = PyEval_SaveThread();
    return fine;
}

/* The varint at `at`; returns the place after it, or NULL. */
static const uint8_t *varint(const uint8_t *at, const uint8_t *stop, uint64_t *value) {
    uint64_t result = 0;
    for (int shift = 0; shift < 70 && at < stop; shift += 7) {
        uint8_t byte = *at++;
        result |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *value = result;
            return at;
        }
    }
    return NULL;
}

/* 1 if all is well, 0 if the message is damaged, -1 with an exception. */
static int scan_message(const uint8_t *base, int64_t first, int64_t last, int64_t row,
                        const uint8_t *wanted, Fields *fields, PyThreadState **others) {
    const uint8_t *at = base + first, *stop = base + last;
    while (at < stop) {
        uint64_t tag = *at, value = 0;
        if (tag < 128) at++;
        else if (!(at = varint(at, stop, &tag)) || tag > 0xFFFFFFFF) return 0;
        uint64_t number = tag >> 3, kind = tag & 7, length = 0;
        if (!number) return 0;
        if (kind == VARINT || kind == DELIMITED) {
            if (at < stop && *at < 128) value = *at++;
            else if (!(at = varint(at, stop, &value))) return 0;
            if (kind == DELIMITED) length = value;
        } else if (kind == FIXED64) length = 8;
        else if (kind == FIXED32) length = 4;
        else return 0;
        if (length > (uint64_t)(stop - at)) return 0;
        if (number < FIELD_NUMBERS && wanted[number] == kind) {
            Fields *field = &fields[number];
            if (field->size == field->message.room &&
                !grow_alone(field, 2 * field->size + field->likely, others))
                return -1;
            field->message.items[field->size] = row;
            field->start.items[field->size] = at - base;
            field->value.items[field->size++] = (int64_t)value;
        }
        at += length;
    }
    return 1;
}

/* scan(buffer, start, end, wanted): `wanted` has the wire type of each field number, 255 for none.
   Returns a list of (number, message, start, value). */
static PyObject *scan(PyObject *self, PyObject *args) {
    Array arrays[4];
    (void)self;
    if (!open_arrays(args, "b*n*n1b*", arrays)) return left_to_numpy();
    const int64_t *start = NUMBERS_OF(arrays[1]), *end = NUMBERS_OF(arrays[2]);
    Fields fields[FIELD_NUMBERS];
    memset(fields, 0, sizeof fields);
    for (int number = 0; number < FIELD_NUMBERS; number++)
        fields[number].likely = arrays[1].size + 64;
    int fine = arrays[3].size == FIELD_NUMBERS;
    PyThreadState *others = PyEval_SaveThread();
    for (Py_ssize_t row = 0; fine == 1 && row < arrays[1].size; row++)
        fine = start[row] >= 0 && start[row] <= end[row] && end[row] <= arrays[0].size
                   ? scan_message(BYTES_OF(arrays[0]), start[row], end[row], row,
                                  BYTES_OF(arrays[3]), fields, &others)
                   : 0;
    PyEval_RestoreThread(others);
    PyObject *result = fine == 1 ? PyList_New(0) : NULL;
    for (int number = 0; number < FIELD_NUMBERS; number++) {
        Fields *field = &fields[number];
        if (result && BYTES_OF(arrays[3])[number] != 255) {
            PyObject *row = grow(field, field->size)
                                ? Py_BuildValue("(iOOO)", number, field->message.bytes,
                                                field->start.bytes, field->value.bytes)
                                : NULL;
            if (!row || PyList_Append(result, row) < 0) {
                Py_DECREF(result);
                result = NULL;
                fine = -1;
            }
            Py_XDECREF(row);
        }
        Py_XDECREF(field->message.bytes);
        Py_XDECREF(field->start.bytes);
        Py_XDECREF(field->value.bytes);
    }
    close_arrays(arrays, 4);
    return result ? result : left_to_numpy();
}

/* lines(text, depth, parent, start, end): those that are fields; returns how many. */
KERNEL(lines, "b*B4N4N4N*") {
    const uint8_t *text = BYTES_OF(arrays[0]), *stop = text + arrays[0].size, *at = text, *next;
    uint8_t *depths = arrays[1].view.buf;
    int64_t *parent = arrays[2].view.buf, *start = arrays[3].view.buf, *end = arrays[4].view.buf;
    int64_t rows = 0, depth = 0, seen[TEXT_LEVELS] = {0};
    for (; at < stop && (next = memchr(at, '\n', stop - at)); at = next + 1) {
        int closes = next > at && next[-1] == '}';
        depth -= closes;
        if (depth < 0 || next - at <= 2 * depth || (closes && next - at > 2 * depth + 1))
            return LEFT_TO_NUMPY;
        for (const uint8_t *name = at + 2 * depth; at < name; at++)
            if (*at != ' ') return LEFT_TO_NUMPY;
        if (closes) continue;
        if (rows == arrays[4].size) return LEFT_TO_NUMPY;
        depths[rows] = (uint8_t)(depth < 255 ? depth : 255);
        parent[rows] = depth && depth <= TEXT_LEVELS ? seen[depth - 1] - 1 : 0;
        if (depth < TEXT_LEVELS) seen[depth]++;
        start[rows] = at - text;
        end[rows++] = next - text;
        depth += next[-1] == '{';
    }
    return depth ? LEFT_TO_NUMPY : rows;
}

static int is_letter(uint8_t byte) { return (uint8_t)((byte | 32) - 'a') < 26 || byte == '_'; }

/* names(text, known, start, end, name, value): the number of each line's name and where its value
   begins. `known` has 16 bytes for each name, filled with zeros; name 0 means any other name. */
KERNEL(names, "b*b*n*n2B2N2") {
    const int64_t *start = NUMBERS_OF(arrays[2]), *end = NUMBERS_OF(arrays[3]);
    const uint8_t *text = BYTES_OF(arrays[0]), *known = BYTES_OF(arrays[1]);
    uint8_t *name = arrays[4].view.buf;
    int64_t *value = arrays[5].view.buf, count = arrays[1].size / KNOWN_NAME;
    for (Py_ssize_t row = 0; row < arrays[2].size; row++) {
        if (start[row] < 0 || start[row] >= end[row] || end[row] > arrays[0].size) return LEFT_TO_NUMPY;
        const uint8_t *at = text + start[row], *stop = text + end[row], *after = at;
        int opens = stop[-1] == '{';
        while (after < stop && (is_letter(*after) || (after > at && (uint8_t)(*after - '0') < 10))) after++;
        int64_t size = after - at, number = 0;
        if (!size || size > LONGEST_NAME || stop - after < 2 || *after != (opens ? ' ' : ':') ||
            (opens ? stop - after > 2 : after[1] != ' '))
            return LEFT_TO_NUMPY;
        if (size <= KNOWN_NAME) {
            uint64_t low = size < 8 ? tail_at(at, size) : word_at(at);
            uint64_t high = size < 8 ? 0 : size < KNOWN_NAME ? tail_at(at + 8, size - 8) : word_at(at + 8);
            for (number = 1; number < count; number++)
                if (word_at(known + KNOWN_NAME * number) == low &&
                    word_at(known + KNOWN_NAME * number + 8) == high)
                    break;
        }
        name[row] = (uint8_t)(number < count ? number : 0);
        value[row] = after + 2 - text;
    }
    return DONE;
}

/* --- slices of a blob -------------------------------------------------------------------- */

static uint64_t mix(uint64_t value, uint64_t factor) {
    value ^= value >> 32;
    value *= factor;
    return value ^ value >> 29;
}

static uint64_t hash_of(const uint8_t *at, int64_t size, uint64_t seed) {
    uint64_t factor = seed | 1, mixed = ((uint64_t)size * factor) ^ seed;
    for (; size >= 8; size -= 8, at += 8) mixed = mix(word_at(at) ^ mixed, factor);
    return mix(mixed ^ tail_at(at, size), factor);
}

/* hashes(blob, start, length, seed: one number, out) */
KERNEL(hashes, "b*n*n1n!N1") {
    const int64_t *start = NUMBERS_OF(arrays[1]), *length = NUMBERS_OF(arrays[2]);
    uint64_t *out = arrays[4].view.buf, seed = (uint64_t)NUMBERS_OF(arrays[3])[0];
    if (!inside(arrays[1], arrays[2], arrays[0].size)) return LEFT_TO_NUMPY;
    for (Py_ssize_t row = 0; row < arrays[1].size; row++)
        out[row] = hash_of(slice_at(BYTES_OF(arrays[0]), start[row], length[row]), length[row], seed);
    return DONE;
}

/* equal(blob, start, other, other_start, length, out): out is one byte per pair. */
KERNEL(equal, "b*n*b*n1n1B1") {
    const int64_t *start = NUMBERS_OF(arrays[1]), *other = NUMBERS_OF(arrays[3]),
                  *length = NUMBERS_OF(arrays[4]);
    uint8_t *out = arrays[5].view.buf;
    if (!inside(arrays[1], arrays[4], arrays[0].size) ||
        !inside(arrays[3], arrays[4], arrays[2].size))
        return LEFT_TO_NUMPY;
    for (Py_ssize_t row = 0; row < arrays[1].size; row++)
        out[row] = !length[row] || !memcmp(BYTES_OF(arrays[0]) + start[row],
                                           BYTES_OF(arrays[2]) + other[row], length[row]);
    return DONE;
}

/* first(blob, start, length, text, out): text is not empty. */
KERNEL(first, "b*n*n1b*N1") {
    const int64_t *start = NUMBERS_OF(arrays[1]), *length = NUMBERS_OF(arrays[2]);
    const uint8_t *text = BYTES_OF(arrays[3]);
    int64_t *out = arrays[4].view.buf, size = arrays[3].size;
    if (!size || !inside(arrays[1], arrays[2], arrays[0].size)) return LEFT_TO_NUMPY;
    for (Py_ssize_t row = 0; row < arrays[1].size; row++) {
        const uint8_t *slice = slice_at(BYTES_OF(arrays[0]), start[row], length[row]), *at = slice;
        int64_t left = length[row] - size + 1; /* places where it may begin */
        while (left > 0 && (at = memchr(at, *text, left)) && memcmp(at, text, size))
            left = length[row] - size - (at++ - slice);
        out[row] = left > 0 && at ? at - slice : -1;
    }
    return DONE;
}

static int64_t shared_bytes(const uint8_t *here, const uint8_t *there, int64_t most) {
    int64_t same = 0;
    while (same + 8 <= most && word_at(here + same) == word_at(there + same)) same += 8;
    while (same < most && here[same] == there[same]) same++;
    return same;
}

/* put(blob, at, source, start, length): copies each slice of the source to its place. */
KERNEL(put, "B*n*b*n1n1") {
    const int64_t *at = NUMBERS_OF(arrays[1]), *start = NUMBERS_OF(arrays[3]),
                  *length = NUMBERS_OF(arrays[4]);
    uint8_t *blob = arrays[0].view.buf;
    if (!inside(arrays[1], arrays[4], arrays[0].size) ||
        !inside(arrays[3], arrays[4], arrays[2].size))
        return LEFT_TO_NUMPY;
    for (Py_ssize_t row = 0; row < arrays[1].size; row++)
        if (length[row]) memmove(blob + at[row], BYTES_OF(arrays[2]) + start[row], length[row]);
    return DONE;
}

/* --- columns of strings ------------------------------------------------------------------ */

/* A table of rows by hash: open addressing, a power of two of slots, at least half of them empty.
   A slot has the low half of the hash above the row plus one; 0 is an empty slot. The upper bits
   of the hash give the slot. */
typedef struct {
    const uint8_t *blob;
    int64_t blob_size;
    const int64_t *start, *length;
    int64_t rows;
    uint64_t *slots, mask;
    int shift;
    int64_t steps; /* left, before the strings count as made to collide */
} Table;

enum { BLOCK = 64, STEPS_PER_ROW = 16, STEPS_AT_LEAST = 4096, ROW_BITS = 32 };
#define LARGEST_ROW 0x7FFFFFFF

static int64_t row_in(uint64_t entry) { return (int64_t)(entry & 0xFFFFFFFF) - 1; }

/* Whether a row of the table, which nobody checked yet, is this text. */
static int is_row(const Table *table, int64_t row, const uint8_t *text, int64_t size) {
    if (row < 0 || row >= table->rows || table->length[row] != size) return 0;
    if (!size) return 1;
    int64_t start = table->start[row];
    return start >= 0 && start <= table->blob_size - size && !memcmp(table->blob + start, text, size);
}

/* The slot of an equal row, or the empty slot where it would be; mask + 1 if it takes too long. */
static uint64_t slot_of(Table *table, uint64_t hash, const uint8_t *text, int64_t size) {
    uint64_t slot = hash >> table->shift, entry;
    for (; (entry = table->slots[slot]); slot = (slot + 1) & table->mask) {
        if (entry >> ROW_BITS == (hash & 0xFFFFFFFF) && is_row(table, row_in(entry), text, size))
            return slot;
        if (--table->steps < 0) return table->mask + 1;
    }
    return slot;
}

/* The row in `known` (blob, start, length, seed, slots) of each of `wanted` (blob, start, length);
   -1 if absent. With `heads`, both are the same: absent strings are added, and have ids. */
static int64_t look_up(const Array *known, const Array *wanted, int64_t *out, int64_t *heads) {
    const int64_t *start = NUMBERS_OF(wanted[1]), *length = NUMBERS_OF(wanted[2]);
    Py_ssize_t rows = wanted[1].size;
    int64_t ids = 0;
    int bits = 4;
    while (((int64_t)1 << bits) < 2 * known[1].size) bits++;
    if (known[1].size >= LARGEST_ROW || known[4].size != (int64_t)1 << bits ||
        !inside(wanted[1], wanted[2], wanted[0].size))
        return LEFT_TO_NUMPY;
    uint64_t *slots = known[4].view.buf, mask = ((uint64_t)1 << bits) - 1, hash[BLOCK];
    Table table = {BYTES_OF(known[0]), known[0].size, NUMBERS_OF(known[1]), NUMBERS_OF(known[2]),
                   known[1].size, slots, mask, 64 - bits,
                   STEPS_AT_LEAST + STEPS_PER_ROW * ((int64_t)known[1].size + rows)};
    for (Py_ssize_t begin = 0; begin < rows; begin += BLOCK) {
        Py_ssize_t end = begin + BLOCK < rows ? begin + BLOCK : rows;
        for (Py_ssize_t row = begin; row < end; row++) {
            const uint8_t *text = slice_at(BYTES_OF(wanted[0]), start[row], length[row]);
            uint64_t mixed = hash_of(text, length[row], (uint64_t)NUMBERS_OF(known[3])[0]);
            hash[row - begin] = mixed;
            __builtin_prefetch(&slots[mixed >> table.shift]); /* on its way to the cache */
        }
        for (Py_ssize_t row = begin; row < end; row++) {
            const uint8_t *text = slice_at(BYTES_OF(wanted[0]), start[row], length[row]);
            uint64_t slot = slot_of(&table, hash[row - begin], text, length[row]);
            if (slot > mask) return LEFT_TO_NUMPY;
            int64_t same = row_in(slots[slot]);
            if (heads && same < 0) {
                slots[slot] = hash[row - begin] << ROW_BITS | (uint64_t)(row + 1);
                heads[ids] = row;
                out[row] = ids++;
            } else out[row] = heads ? out[same] : same;
        }
    }
    return ids;
}

/* intern(blob, start, length, seed, slots, ids, first): slots are zeros. Returns how many different
   strings there are. */
KERNEL(intern, "b*n*n1n!N*N1N1") {
    return look_up(arrays, arrays, arrays[5].view.buf, arrays[6].view.buf);
}

/* find(blob, start, length, seed, slots, blob, start, length, out): the row of each wanted string
   among different ones whose slots `intern` filled. */
KERNEL(find, "b*n*n1n!n*b*n*n6N6") { return look_up(arrays, arrays + 5, arrays[8].view.buf, NULL); }

typedef struct {
    const uint8_t *blob;
    const int64_t *start, *length;
} Texts;

/* Whether row `a` comes after row `b` in byte order. */
static int after(const Texts *texts, int64_t a, int64_t b) {
    int64_t left = texts->length[a], right = texts->length[b], shared = left < right ? left : right;
    int order = shared ? memcmp(texts->blob + texts->start[a], texts->blob + texts->start[b], shared)
                       : 0;
    return order ? order > 0 : left > right;
}

/* Merges the sorted rows from[low:middle] and from[middle:high] into to[low:high]. */
static void merge(const Texts *texts, const int64_t *from, int64_t *to, Py_ssize_t low,
                  Py_ssize_t middle, Py_ssize_t high) {
    Py_ssize_t left = low, right = middle, at = low;
    if (left < middle && right < high && after(texts, from[middle - 1], from[right]))
        while (left < middle && right < high)
            to[at++] = after(texts, from[left], from[right]) ? from[right++] : from[left++];
    while (left < middle) to[at++] = from[left++];
    while (right < high) to[at++] = from[right++];
}

/* order(blob, start, length, out, spare, spare): a merge sort of the runs that are already sorted,
   as names mostly come. Returns whether the result is in the first spare array. */
KERNEL(order, "b*n*n1N1N1N1") {
    Py_ssize_t rows = arrays[1].size, runs = 0;
    Texts texts = {BYTES_OF(arrays[0]), NUMBERS_OF(arrays[1]), NUMBERS_OF(arrays[2])};
    int64_t *now = arrays[3].view.buf, *next = arrays[4].view.buf, *end = arrays[5].view.buf;
    if (!inside(arrays[1], arrays[2], arrays[0].size)) return LEFT_TO_NUMPY;
    for (Py_ssize_t row = 0; row < rows; row++) {
        now[row] = row;
        if (row && after(&texts, row - 1, row)) end[runs++] = row;
    }
    if (rows) end[runs++] = rows;
    while (runs > 1) {
        Py_ssize_t low = 0, merged = 0;
        for (Py_ssize_t run = 0; run < runs; run += 2) {
            Py_ssize_t high = run + 1 < runs ? end[run + 1] : end[run];
            merge(&texts, now, next, low, end[run], high);
            end[merged++] = low = high;
        }
        runs = merged;
        int64_t *other = now;
        now = next;
        next = other;
    }
    return now == (int64_t *)arrays[4].view.buf;
}

/* --- graphs and trees -------------------------------------------------------------------- */

/* walk(source, start, outermost, nodes, depths, spare, spare, fresh): depth first from the outermost
   nodes, inputs in order, each node once. The inputs of node i are source[start[i]:start[i + 1]];
   `fresh` has a byte per node. Returns how many nodes were visited. */
KERNEL(walk, "n*n*n*N7N7N7N7B*") {
    const int64_t *source = NUMBERS_OF(arrays[0]), *start = NUMBERS_OF(arrays[1]),
                  *outermost = NUMBERS_OF(arrays[2]);
    int64_t *nodes = arrays[3].view.buf, *depths = arrays[4].view.buf, *open = arrays[5].view.buf,
            *at = arrays[6].view.buf, visited = 0;
    uint8_t *fresh = arrays[7].view.buf;
    Py_ssize_t count = arrays[7].size, deep = 0;
    if (arrays[1].size != count + 1 || start[0] < 0 || start[count] > arrays[0].size)
        return LEFT_TO_NUMPY;
    for (Py_ssize_t node = 0; node < count; node++)
        if (start[node] > start[node + 1]) return LEFT_TO_NUMPY;
    for (Py_ssize_t root = 0; root < arrays[2].size; root++) {
        int64_t node = outermost[root];
        while (1) {
            if (node >= 0 && node < count && fresh[node]) {
                fresh[node] = 0;
                nodes[visited] = open[deep] = node;
                depths[visited++] = deep + 2;
                at[deep++] = start[node];
            }
            while (deep && at[deep - 1] == start[open[deep - 1] + 1]) deep--;
            if (!deep) break;
            node = source[at[deep - 1]++];
        }
    }
    return visited;
}

/* scopes(blob, start, length, name, end, depth, last): the rows of the tree of name scopes, of names
   in drawing order: the name and the length of each row's label, its depth, and the row of each
   name itself. Returns how many rows there are. */
KERNEL(scopes, "b*n*n1N*N3N3N1") {
    const int64_t *start = NUMBERS_OF(arrays[1]), *length = NUMBERS_OF(arrays[2]);
    int64_t *name = arrays[3].view.buf, *end = arrays[4].view.buf, *depth = arrays[5].view.buf,
            *last = arrays[6].view.buf, rows = 0, before_size = -1;
    const uint8_t *before = NULL;
    if (!inside(arrays[1], arrays[2], arrays[0].size)) return LEFT_TO_NUMPY;
    for (Py_ssize_t row = 0; row < arrays[1].size; row++) {
        const uint8_t *text = slice_at(BYTES_OF(arrays[0]), start[row], length[row]), *slash;
        int64_t size = length[row], common = 0, at = 0, parts = 0;
        if (before)
            common = shared_bytes(text, before, size < before_size ? size : before_size);
        while (1) {
            slash = at < size ? memchr(text + at, '/', size - at) : NULL;
            int64_t part_end = slash ? slash - text : size;
            parts++;
            /* A part that ends with the common text is the scope of this name only if the name
               before ends there. */
            if (part_end > common || (part_end == common && before_size != common)) {
                if (rows == arrays[3].size) return LEFT_TO_NUMPY;
                name[rows] = row;
                end[rows] = part_end;
                depth[rows++] = parts + 1;
            } else if (!slash) return LEFT_TO_NUMPY; /* the same name again */
            if (!slash) break;
            at = part_end + 1;
        }
        last[row] = rows - 1;
        before = text;
        before_size = size;
    }
    return rows;
}

/* ends(depth, out, spare): where the subtree of each row ends. */
KERNEL(ends, "n*N0N0") {
    const int64_t *depth = NUMBERS_OF(arrays[0]);
    int64_t *out = arrays[1].view.buf, *open = arrays[2].view.buf, deep = 0;
    for (Py_ssize_t row = 0; row < arrays[0].size; row++) {
        if (depth[row] < 1 || depth[row] > deep + 1) return LEFT_TO_NUMPY;
        while (deep >= depth[row]) out[open[--deep]] = row;
        open[deep++] = row;
    }
    while (deep) out[open[--deep]] = arrays[0].size;
    return DONE;
}

/* parents(end, out): the row above each row, -1 for the first, which holds all others. */
KERNEL(parents, "n*N0") {
    const int64_t *end = NUMBERS_OF(arrays[0]);
    int64_t *out = arrays[1].view.buf, above = -1;
    for (Py_ssize_t row = 0; row < arrays[0].size; row++) {
        while (above >= 0 && end[above] <= row) above = out[above];
        if (row && (above < 0 || end[row] > end[above])) return LEFT_TO_NUMPY;
        out[row] = above;
        above = row;
    }
    return DONE;
}

/* --- numbers as text --------------------------------------------------------------------- */

enum { DIGITS = 16, TAIL = 8, MOST_UNITS = 6, THOUSAND = 1000, HUNDREDTHS = 100 };
#define TOO_LARGE 1000000000000000 /* doubles have all its digits */

/* Whether the double nearest to number / scale, which is halfway between hundredths, is above that.
   All steps are exact: a double above 1 is a multiple of 2^-52. */
static int rounds_up(int64_t number, int64_t scale, int64_t below) {
    volatile double quotient = (double)number / (double)scale; /* no wider than a double */
    int64_t whole = (int64_t)quotient, half = 2 * below + 1 - 2 * HUNDREDTHS * whole;
    int64_t fraction = (int64_t)((quotient - (double)whole) * 0x1p52);
    int64_t above = 2 * HUNDREDTHS * fraction - half * ((int64_t)1 << 52);
    return above ? above > 0 : below % 2;
}

/* scaled(column, tails, blob, start, length): each number in the largest unit that it reaches. A
   unit is a thousand times the one before; `tails` has eight bytes for what is written behind each,
   with zeros to fill them. The blob has 24 bytes for each number. */
KERNEL(scaled, "n*b*B*N0N0") {
    const int64_t *column = NUMBERS_OF(arrays[0]);
    uint8_t *blob = arrays[2].view.buf;
    int64_t *start = arrays[3].view.buf, *length = arrays[4].view.buf, size[MOST_UNITS];
    int64_t units = arrays[1].size / TAIL;
    if (!units || units > MOST_UNITS || arrays[2].size != (DIGITS + TAIL) * arrays[0].size)
        return LEFT_TO_NUMPY;
    for (int64_t unit = 0; unit < units; unit++) {
        const uint8_t *tail = BYTES_OF(arrays[1]) + TAIL * unit, *end = memchr(tail, 0, TAIL);
        size[unit] = end ? end - tail : TAIL;
    }
    for (Py_ssize_t row = 0; row < arrays[0].size; row++) {
        int64_t number = column[row], unit = 0, scale = 1;
        if (number < 0 || number >= TOO_LARGE) return LEFT_TO_NUMPY;
        for (; unit + 1 < units && number >= THOUSAND * scale; unit++) scale *= THOUSAND;
        uint8_t *end = blob + (DIGITS + TAIL) * row + DIGITS, *at = end;
        if (unit) {
            int64_t part = scale / HUNDREDTHS, rest = number % part, below = number / part;
            number = below + (2 * rest > part || (2 * rest == part && rounds_up(number, scale, below)));
            for (int digit = 0; digit < 2; digit++, number /= 10)
                *--at = (uint8_t)('0' + number % 10);
            *--at = '.';
        }
        do *--at = (uint8_t)('0' + number % 10);
        while (number /= 10);
        memcpy(end, BYTES_OF(arrays[1]) + TAIL * unit, TAIL);
        start[row] = at - blob;
        length[row] = end - at + size[unit];
    }
    return DONE;
}

#define METHOD(name) {#name, name, METH_VARARGS, NULL}
static PyMethodDef methods[] = {
    METHOD(scan), METHOD(lines), METHOD(names), METHOD(hashes), METHOD(equal), METHOD(first), METHOD(put),
    METHOD(intern), METHOD(find), METHOD(order), METHOD(walk), METHOD(scopes), METHOD(ends), METHOD(parents),
    METHOD(scaled),
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_core", NULL, 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&module); }
