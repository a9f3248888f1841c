/* SPDX-License-Identifier: BSD-2-Clause */
/* pieces.c - regular pieces of a file, moved in one of several ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/bench/pieces.h"
#include <pvfs.h>

#define ROWS 768
#define COLUMNS 1024

/* The state of one client, a process, from the preparation to the measurement. */
struct mover {
	const struct pieces *p;
	int fd;
	int64_t off;
	char *mem;
	size_t mem_len;
	char *at[PIECES_MAX], *parent[PIECES_MAX];
	size_t mlen[PIECES_MAX], plen[PIECES_MAX];
	int64_t foff[PIECES_MAX], flen[PIECES_MAX];
};

void pieces_tile(struct pieces *p, size_t elem, bool memory)
{
	size_t row = 2 * COLUMNS * elem;

	p->file = "perf-tile";
	p->n = ROWS;
	p->len = COLUMNS * elem;
	p->stride = (int64_t)row;
	p->mem_stride = memory ? row : p->len;
	for (unsigned int i = 0; i < PIECES_CLIENTS; i++)
		p->off[i] = (int64_t)(i / 2 * ROWS * row + i % 2 * p->len);
}

double pieces_rate(const struct pieces *p, double secs)
{
	return (double)p->n * (double)p->len * PIECES_CLIENTS / secs / 1e6;
}

static int failed(const char *what)
{
	perror(what);
	return -1;
}

static void plan(struct mover *m)
{
	const struct pieces *p = m->p;
	unsigned int i;

	for (i = 0; i < p->n; i++) {
		m->at[i] = m->mem + i * p->mem_stride;
		m->mlen[i] = p->len;
		m->parent[i] = m->mem;
		m->plen[i] = m->mem_len;
		m->foff[i] = m->off + i * p->stride;
		m->flen[i] = (int64_t)p->len;
	}
}

static int move_list(struct mover *m)
{
	bool hints = m->p->way == PIECES_HINTS;
	unsigned int n = m->p->n;
	ssize_t done;

	done = (m->p->write ? pvfs_write_list64 : pvfs_read_list64)(
		m->fd, n, m->at, m->mlen, hints ? m->parent : NULL,
		hints ? m->plen : NULL, n, m->foff, m->flen);
	return done == (ssize_t)(n * m->p->len) ? 0 : failed("list");
}

static int move_one(const struct mover *m, char *mem, size_t len, int64_t off)
{
	ssize_t done = m->p->write ? pvfs_pwrite(m->fd, mem, len, off)
				   : pvfs_pread(m->fd, mem, len, off);

	return done == (ssize_t)len ? 0 : failed("a piece");
}

static int move(struct mover *m)
{
	unsigned int i;

	if (m->p->way == PIECES_WHOLE)
		return move_one(m, m->mem, m->p->n * m->p->len, m->off);
	if (m->p->way != PIECES_SINGLE)
		return move_list(m);
	for (i = 0; i < m->p->n; i++)
		if (move_one(m, m->at[i], m->p->len, m->foff[i]))
			return -1;
	return 0;
}

/* Fills the file, so that all pieces exist before the measurement. */
static int fill(const struct mover *m)
{
	int64_t end = m->off + (m->p->n - 1) * m->p->stride +
		      (int64_t)m->p->len;
	size_t step = 1u << 20;
	char *buf = calloc(1, step);
	struct stat st;

	if (!buf || pvfs_fstat(m->fd, &st))
		return -1;
	for (int64_t off = st.st_size; off < end; off += (int64_t)step)
		if (pvfs_pwrite(m->fd, buf, step, off) != (ssize_t)step)
			return -1;
	free(buf);
	return 0;
}

static int get_memory(struct mover *m)
{
	m->mem_len = m->p->n * m->p->mem_stride;
	m->mem = mmap(NULL, m->mem_len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (m->mem == MAP_FAILED)
		return -1;
	memset(m->mem, 'x', m->mem_len);
	return 0;
}

static int prepare(const struct bench *b, struct mover *m)
{
	char path[4096];

	setenv("PVFS_LIST_GROUP", m->p->way == PIECES_ALONE ? "off" : "on", 1);
	snprintf(path, sizeof(path), "%s/%s", b->dir, m->p->file);
	m->fd = pvfs_open(path, O_RDWR | O_CREAT, 0666);
	if (m->fd < 0 || get_memory(m) || fill(m))
		return failed(path);
	plan(m);
	/* connects to all servers */
	for (int64_t off = 0; off < 16 * 65536; off += 65536)
		if (pvfs_pread(m->fd, m->mem, 1, off) < 0)
			return failed(path);
	return 0;
}

static int measured(struct mover *m, struct pieces_count *count)
{
	struct pvfs_list_counters a, b;
	unsigned int i = 0;
	int rc;

	pvfs_list_counters(m->fd, &a);
	do {
		rc = move(m);
	} while (!rc && ++i < m->p->times);
	pvfs_list_counters(m->fd, &b);
	if (count) {
		count->registrations = b.registrations - a.registrations;
		count->requests = b.requests - a.requests;
	}
	return rc;
}

int pieces_client(const struct bench *b, void *arg, unsigned int rank, bool go)
{
	const struct pieces *p = arg;
	static struct mover m;

	if (go)
		return measured(&m, rank ? NULL : p->count);
	m.p = p;
	m.off = p->off[rank];
	return prepare(b, &m);
}

double pieces_run(const struct perf_target *t, struct pieces *p, unsigned int n)
{
	struct bench_task task = { pieces_client, p };
	struct bench_result res;

	if (bench_run(&t->b, n, &task, &res))
		return -1;
	return res.secs / (p->times ? p->times : 1);
}
