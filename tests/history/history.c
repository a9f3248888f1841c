/* SPDX-License-Identifier: BSD-2-Clause */
/* history.c - all calls of all clients, and the explanations. */
#include "tests/history/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_MAX 12u

int history_add(struct history *h, const struct op *op)
{
	struct call *more, *c;

	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : 4096;
		more = realloc(h->call, h->room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		h->call = more;
	}
	c = &h->call[h->n++];
	*c = (struct call){ .op = op, .begin = op->begin, .end = op->end };
	if (op->state != OP_DONE) {
		c->end = op->begin + h->bound;
		c->outcome = MAYBE;
	} else if (op->result < 0) {
		c->outcome = MAYBE;
	}
	return 0;
}

static int add_all(struct history *h, const char *base, size_t size)
{
	const struct op *op;
	size_t at = 0;
	int rc = 0;

	while (!rc && at + sizeof(*op) <= size) {
		op = (const struct op *)(const void *)(base + at);
		/* the client may have been about to begin the last one */
		if (op->state == OP_FREE)
			break;
		at += sizeof(*op) + op->nval * sizeof(op->val[0]);
		rc = history_add(h, op);
	}
	return rc;
}

/* The mapping stays, because the calls point into it. */
int history_load(struct history *h, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *base;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (base == MAP_FAILED)
		return -errno;
	return add_all(h, base, (size_t)st.st_size);
}

static int by_begin(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

void history_sort(struct history *h)
{
	if (h->n)
		qsort(h->call, h->n, sizeof(h->call[0]), by_begin);
	h->zero = h->n ? h->call[0].begin : 0;
}

void history_free(struct history *h)
{
	free(h->call);
	h->call = NULL;
	h->n = h->room = 0;
}

size_t history_next(const struct history *h, size_t from, enum object_kind kind,
		    unsigned int object)
{
	while (from < h->n && (h->call[from].op->object_kind != kind ||
			       h->call[from].op->object != object))
		from++;
	return from;
}

static unsigned int objects(const struct history *h, enum object_kind kind)
{
	unsigned int most = 0;
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->call[i].op->object_kind == kind &&
		    h->call[i].op->object >= most)
			most = h->call[i].op->object + 1u;
	return most;
}

unsigned int history_check(struct history *h)
{
	unsigned int i, n[OBJ_KINDS];

	for (i = 0; i < OBJ_KINDS; i++)
		n[i] = objects(h, (enum object_kind)i);
	for (i = 0; i < n[OBJ_PLAIN]; i++)
		check_plain(h, OBJ_PLAIN, i);
	for (i = 0; i < n[OBJ_CUT]; i++) {
		check_cut(h, i);
		check_size(h, i);
	}
	for (i = 0; i < n[OBJ_TAIL]; i++)
		check_tail(h, i);
	for (i = 0; i < n[OBJ_GUARD]; i++) {
		check_locks(h, i);
		check_plain(h, OBJ_GUARD, i);
	}
	for (i = 0; i < n[OBJ_NAMES]; i++)
		check_names(h, i);
	return h->violations;
}

/* ---- explanations ---- */

static bool show(const struct history *h)
{
	return h->out && h->shown <= SHOWN_MAX;
}

void violation(struct history *h, const char *fmt, ...)
{
	va_list ap;

	h->violations++;
	h->shown++;
	if (!show(h))
		return;
	fputs("VIOLATION: ", h->out);
	va_start(ap, fmt);
	vfprintf(h->out, fmt, ap);
	va_end(ap);
	fputc('\n', h->out);
}

void remark(struct history *h, const char *fmt, ...)
{
	va_list ap;

	if (!show(h))
		return;
	fputs("    ", h->out);
	va_start(ap, fmt);
	vfprintf(h->out, fmt, ap);
	va_end(ap);
	fputc('\n', h->out);
}

static const char *const kind_name[OP_KINDS] = {
	"write",  "read",   "append", "truncate", "size",   "sync", "lock",
	"unlock", "create", "lookup", "unlink",	  "rename", "link",
};

static const char *const object_name[OBJ_KINDS] = {
	"plain", "cut", "tail", "guard", "names",
};

static const char *result_text(const struct op *op, char *buf, size_t len)
{
	if (op->state != OP_DONE)
		return "its client was killed";
	if (op->result < 0)
		return strerrorname_np(-op->result);
	snprintf(buf, len, "ok %d", op->result);
	return buf;
}

static void what_text(const struct op *op, char *buf, size_t len)
{
	if (op->object_kind == OBJ_NAMES)
		snprintf(buf, len, "%c %c id %llu", 'a' + (int)op->block,
			 op->kind == OP_RENAME || op->kind == OP_LINK
				 ? 'a' + (int)op->count
				 : '-',
			 (unsigned long long)op->arg);
	else
		snprintf(buf, len, "block %u count %u", op->block, op->count);
}

void explain(struct history *h, const char *what, const struct call *c)
{
	char result[32], text[64];
	const struct op *op = c->op;

	if (!show(h))
		return;
	what_text(op, text, sizeof(text));
	fprintf(h->out,
		"    %-10s %10.6f .. %10.6f  client %u call %llu: %s %s.%u %s: "
		"%s\n",
		what, (double)(c->begin - h->zero) / 1e9,
		(double)(c->end - h->zero) / 1e9, op->writer,
		(unsigned long long)op->no, kind_name[op->kind],
		object_name[op->object_kind], op->object, text,
		result_text(op, result, sizeof(result)));
}

static bool changes(const struct op *op, uint32_t block)
{
	switch (op->kind) {
	case OP_WRITE:
		return block >= op->block && block - op->block < op->count;
	case OP_APPEND:
		return true; /* its place is unknown */
	case OP_TRUNCATE:
		return block >= op->block;
	}
	return false;
}

/* Returns when the last change of the block began that was surely done before the read. */
static uint64_t last_done(const struct history *h, const struct call *read,
			  uint32_t block)
{
	const struct op *op = read->op;
	const struct call *c;
	uint64_t last = 0;
	size_t i;

	for (i = history_next(h, 0, op->object_kind, op->object); i < h->n;
	     i = history_next(h, i + 1, op->object_kind, op->object)) {
		c = &h->call[i];
		if (c->begin > read->begin)
			break;
		if (c->outcome == SURE && c->end < read->begin &&
		    c->op->kind != OP_APPEND && changes(c->op, block))
			last = c->begin;
	}
	return last;
}

bool half_done(const struct history *h, const struct call *read, uint32_t k)
{
	const struct op *op = read->op;
	unsigned int n = 0;
	const struct call *c;
	uint64_t last;
	size_t i;

	if (op->val[k] != VALUE_TORN)
		return false;
	last = last_done(h, read, op->block + k);
	for (i = history_next(h, 0, op->object_kind, op->object); i < h->n;
	     i = history_next(h, i + 1, op->object_kind, op->object)) {
		c = &h->call[i];
		if (c->begin > read->end)
			break;
		if (c->end < last || !changes(c->op, op->block + k))
			continue;
		if (c->outcome != SURE || c->end >= read->begin)
			return true;
		n += c->op->kind != OP_APPEND;
	}
	return n > 1;
}

const char *value_text(uint64_t val)
{
	static char ring[8][64];
	static unsigned int at;
	char *buf = ring[at++ % 8];

	if (val == VALUE_ZERO)
		return "zeros";
	if (val == VALUE_TORN)
		return "no block that was ever written";
	snprintf(buf, sizeof(ring[0]), "block %u of client %u call %llu",
		 value_part(val), value_writer(val),
		 (unsigned long long)value_no(val));
	return buf;
}
