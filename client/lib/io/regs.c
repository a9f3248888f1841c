/* SPDX-License-Identifier: BSD-2-Clause */
/* regs.c - groups of memory for registration. */
#include "client/lib/io/regs_int.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define GROUP_GAP (1u << 20) /* maximum bytes between neighbours */
#define PAGE_MIN 4096u

unsigned int regs_max(const struct io_plan *plan)
{
	return plan->niov > plan->nparent ? plan->niov : plan->nparent;
}

static int by_addr(const void *a, const void *b)
{
	const struct rail_mem *x = a, *y = b;
	const char *p = x->addr, *q = y->addr;

	return p < q ? -1 : p > q;
}

static char *end_of(const struct rail_mem *mem)
{
	return (char *)mem->addr + mem->len;
}

/* True: the memory between the two is mapped; mincore() tells. */
static bool mapped_between(const char *end, const char *next)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)end + page - 1) & ~(page - 1);
	uintptr_t to = (uintptr_t)next & ~(page - 1);
	unsigned char vec[GROUP_GAP / PAGE_MIN + 2];

	return from >= to || !mincore((void *)from, to - from, vec);
}

static bool mems_join(const struct rail_mem *mem, const struct rail_mem *next,
		      bool group)
{
	const char *end = end_of(mem), *from = next->addr;

	if (from <= end)
		return true;
	return group && from - end <= (ptrdiff_t)GROUP_GAP &&
	       mapped_between(end, from);
}

static unsigned int mems_merge(struct rail_mem *mem, unsigned int n, bool group)
{
	unsigned int i, to = 0;

	for (i = 0; i < n; i++) {
		struct rail_mem *last = mem + to;
		char *end = end_of(&mem[i]);

		if (!to || !mems_join(&last[-1], &mem[i], group))
			mem[to++] = mem[i];
		else if (end > end_of(&last[-1]))
			last[-1].len = (size_t)(end - (char *)last[-1].addr);
	}
	return to;
}

static unsigned int mems_group(struct rail_mem *mem, unsigned int n, bool group)
{
	bool sorted = true;
	unsigned int i;

	for (i = 1; i < n && sorted; i++)
		sorted = by_addr(&mem[i - 1], &mem[i]) <= 0;
	if (!sorted)
		qsort(mem, n, sizeof(*mem), by_addr);
	return mems_merge(mem, n, group);
}

unsigned int regs_make(const struct io_plan *plan, unsigned int access,
		       bool bold, struct rail_mem *mem, struct rail_mem **area)
{
	bool hints = bold && plan->parent;
	const struct iovec *v = hints ? plan->parent : plan->iov;
	unsigned int n = hints ? plan->nparent : plan->niov, i, to = 0;

	for (i = 0; i < n; i++) {
		if (v[i].iov_len || !bold)
			rail_mem_init(&mem[to++], v[i].iov_base, v[i].iov_len,
				      access);
	}
	if (bold)
		to = mems_group(mem, to, !hints);
	for (i = 0; i < to; i++) {
		mem[i].keep = true;
		area[i] = &mem[i];
	}
	return to;
}
