/* SPDX-License-Identifier: BSD-2-Clause */
/* memory.c - memory with patterns, requests on it, and small counts for tests. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "tests/contract/harness.h"

/* bytes before and after the memory that must not be touched */
#define RED_ZONE 64u
#define RED 0xa5

uint64_t rnd(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Each aligned group of 8 positions is one random number. */
static uint64_t word_at(uint64_t seed, size_t group)
{
	uint64_t state = seed * 0x2545f4914f6cdd1dull + group;

	return rnd(&state);
}

void pattern(uint8_t *p, size_t len, uint64_t seed, size_t from)
{
	size_t i = 0, at, n;
	uint64_t word;

	while (i < len) {
		at = (from + i) % 8;
		n = len - i < 8 - at ? len - i : 8 - at;
		word = word_at(seed, (from + i) / 8);
		memcpy(p + i, (uint8_t *)&word + at, n);
		i += n;
	}
}

struct mem *mem_new(struct side *s, size_t len, unsigned int access)
{
	struct mem *m = calloc(1, sizeof(*m));

	ck_assert_ptr_nonnull(m);
	LIST_INSERT_HEAD(&s->mems, m, link);
	m->len = len;
	m->block = aligned_alloc(64, (len + 63) / 64 * 64 + 2 * RED_ZONE);
	ck_assert_ptr_nonnull(m->block);
	m->p = m->block + RED_ZONE;
	memset(m->block, RED, RED_ZONE);
	memset(m->p, 0, len);
	memset(m->p + len, RED, RED_ZONE);
	ck_ok(tp_mr_reg(s->dev, m->p, len, access, &m->mr));
	return m;
}

void mem_fill(struct mem *m, uint64_t seed)
{
	pattern(m->p, m->len, seed, 0);
}

/* Number of bytes from p on that are val.  (Check writes a record for each assertion.) */
static size_t same(const uint8_t *p, size_t len, uint8_t val)
{
	size_t i;

	for (i = 0; i < len && p[i] == val; i++)
		;
	return i;
}

static void check_red(const struct mem *m)
{
	ck_assert_msg(same(m->block, RED_ZONE, RED) == RED_ZONE,
		      "written before the memory");
	ck_assert_msg(same(m->p + m->len, RED_ZONE, RED) == RED_ZONE,
		      "written after the memory");
}

void mem_check(const struct mem *m, size_t off, size_t len, uint64_t seed,
	       size_t from)
{
	uint8_t want[4096];
	size_t i, n;

	ck_assert_uint_le(off + len, m->len);
	for (i = 0; i < len; i += n) {
		n = len - i < sizeof(want) ? len - i : sizeof(want);
		pattern(want, n, seed, from + i);
		ck_assert_msg(!memcmp(m->p + off + i, want, n),
			      "wrong bytes in [%zu, %zu)", off + i,
			      off + i + n);
	}
	check_red(m);
}

void mem_check_zero(const struct mem *m)
{
	size_t zeros = same(m->p, m->len, 0);

	ck_assert_msg(zeros == m->len, "byte %zu was written", zeros);
	check_red(m);
}

struct tp_sge sge_of(const struct mem *m, size_t off, uint32_t len)
{
	struct tp_sge sge = { m->p + off, len, m->mr->lkey };

	return sge;
}

void side_recv(struct tp_ep *ep, uint64_t wr_id, const struct mem *m,
	       size_t off, uint32_t len)
{
	struct tp_recv_wr wr = { wr_id, sge_of(m, off, len) };

	ck_ok(tp_post_recv(ep, &wr));
}

struct tp_send_wr wr_send(uint64_t wr_id, const struct tp_sge *sge)
{
	struct tp_send_wr wr = {
		.wr_id = wr_id,
		.opcode = TP_SEND,
		.flags = TP_SIGNALED,
		.sgl = sge,
		.nsge = sge ? 1 : 0,
	};

	return wr;
}

struct tp_send_wr wr_rdma(enum tp_opcode opcode, uint64_t wr_id,
			  const struct tp_sge *sge, const struct mem *remote,
			  size_t off)
{
	struct tp_send_wr wr = wr_send(wr_id, sge);

	wr.opcode = opcode;
	if (remote) {
		wr.remote_addr = (uintptr_t)remote->p + off;
		wr.rkey = remote->mr->rkey;
	}
	return wr;
}

unsigned int fd_count(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}
