/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_model.c - concurrent clients, each with random region and memory lists on objects of its own,
 * compared with a model in memory.  There are few transfer buffers, so the clients wait for each
 * other.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"

#define CLIENTS 4u
#define ROUNDS 80u
#define OBJ_SIZE (2u << 20)

struct player {
	pthread_t thread;
	const struct addr *addr;
	uint64_t handle;
	unsigned int seed;
	struct iodc c;
	uint8_t *model; /* OBJ_SIZE bytes */
	uint64_t size;
	struct wire_region reg[WIRE_REGION_MAX];
	struct iodc_mem mem[WIRE_MEM_MAX];
	struct iodc_io io;
};

/* The iod reads the page cache by this call, interposed: it finds nothing, a half, or all. */
static atomic_uint looks, misses;

ssize_t preadv2(int fd, const struct iovec *iov, int n, off_t off, int flags)
{
	unsigned int look = atomic_fetch_add(&looks, 1);
	size_t len = iov->iov_len;

	if (look % 3 == 0) {
		atomic_fetch_add(&misses, 1);
		errno = EAGAIN;
		return -1;
	}
	if (look % 3 == 1)
		len = (len + 1) / 2;
	return syscall(SYS_pread64, fd, iov->iov_base, len, off);
}

static uint32_t rnd(struct player *p, uint32_t n)
{
	return (uint32_t)rand_r(&p->seed) % n;
}

/* Chooses regions that do not overlap, in any order: parts of equal windows. */
static void random_regions(struct player *p)
{
	uint32_t n = 1 + rnd(p, rnd(p, 4) ? 4 : WIRE_REGION_MAX);
	uint32_t window = OBJ_SIZE / n, i, j, off, len;
	struct wire_region tmp;

	p->io.total = 0;
	for (i = 0; i < n; i++) {
		off = rnd(p, window);
		len = 1 + rnd(p, rnd(p, 3) ? 3000 : window);
		len = len > window - off ? window - off : len;
		p->reg[i].off = htole64(i * window + off);
		p->reg[i].len = htole64(len);
		p->io.total += len;
	}
	for (i = n; i-- > 1;) {
		j = rnd(p, i + 1);
		tmp = p->reg[i];
		p->reg[i] = p->reg[j];
		p->reg[j] = tmp;
	}
	p->io.nreg = n;
}

/* Divides the total into pieces of the arena with gaps between them. */
static void random_mem(struct player *p)
{
	uint64_t left = p->io.total;
	uint32_t off = 0, len, n = 0;
	uint32_t max = 1 + rnd(p, 40);

	while (left) {
		len = n + 1 == max ? (uint32_t)left
				   : 1 + rnd(p, (uint32_t)left);
		off += rnd(p, 5000);
		p->mem[n++] = (struct iodc_mem){ off, len };
		off += len;
		left -= len;
	}
	p->io.mem = p->mem;
	p->io.nmem = n;
}

/* Returns the byte at position pos of the memory list. */
static uint8_t *mem_at(struct player *p, uint64_t pos)
{
	unsigned int i = 0;

	if (!p->io.mem)
		return p->c.arena + pos;
	while (pos >= p->mem[i].len)
		pos -= p->mem[i++].len;
	return p->c.arena + p->mem[i].off + pos;
}

static void write_once(struct player *p)
{
	uint64_t pos = 0, off, len, i;
	unsigned int r;

	for (i = 0; i < p->io.total; i += 1 + rnd(p, 9))
		*mem_at(p, i) = (uint8_t)rnd(p, 256);
	for (r = 0; r < p->io.nreg; r++) {
		off = le64toh(p->reg[r].off);
		len = le64toh(p->reg[r].len);
		for (i = 0; i < len; i++)
			p->model[off + i] = *mem_at(p, pos + i);
		pos += len;
		p->size = off + len > p->size ? off + len : p->size;
	}
	must(!iodc_write(&p->c, &p->io));
	must(p->io.done == p->io.total);
	must(p->io.size == p->size);
}

/* Returns the expected length: up to the last byte before the end of the object. */
static uint64_t expect_done(struct player *p)
{
	uint64_t pos = 0, end = 0, off, len;
	unsigned int r;

	for (r = 0; r < p->io.nreg; r++) {
		off = le64toh(p->reg[r].off);
		len = le64toh(p->reg[r].len);
		if (off < p->size)
			end = pos + (off + len > p->size ? p->size - off : len);
		pos += len;
	}
	return end;
}

static void read_once(struct player *p)
{
	uint64_t pos = 0, off, len, i, done = expect_done(p);
	unsigned int r;

	memset(p->c.arena, 0x5a, IODC_ARENA);
	must(!iodc_read(&p->c, &p->io));
	must(p->io.done == done);
	for (r = 0; r < p->io.nreg; r++) {
		off = le64toh(p->reg[r].off);
		len = le64toh(p->reg[r].len);
		for (i = 0; i < len && pos + i < done; i++)
			must(*mem_at(p, pos + i) == p->model[off + i]);
		pos += len;
	}
	if (p->io.mem && done < p->io.total)
		must(*mem_at(p, done) == 0x5a);
}

static void *play(void *arg)
{
	struct player *p = arg;
	unsigned int i;

	iodc_open(&p->c, p->addr, WIRE_ROLE_CLIENT, 0);
	p->model = calloc(1, OBJ_SIZE);
	p->io.reg = p->reg;
	for (i = 0; i < ROUNDS; i++) {
		bool write = rnd(p, 2);

		p->io.handle = p->handle;
		random_regions(p);
		if (p->io.total > (write ? WIRE_INLINE_MAX : 4096u) ||
		    rnd(p, 2))
			random_mem(p);
		else
			p->io.mem = NULL;
		if (write)
			write_once(p);
		else
			read_once(p);
	}
	free(p->model);
	iodc_close(&p->c);
	return NULL;
}

START_TEST(clients_match_their_models)
{
	struct player p[CLIENTS] = { 0 };
	struct iod_conf conf;
	struct addr addr;
	struct iod *iod;
	unsigned int i;
	char dir[64];

	iodc_mkdir(dir);
	iod_here_conf(&conf, dir);
	conf.threads = 2;
	ck_assert_int_eq(iod_zones_parse("16K:2 32K:2", &conf.zones), 0);
	conf.unit_size = 32768;
	conf.sync = _i;
	iod_here_start(&conf, NULL, &iod, &addr);
	iodc_serve(&addr);
	for (i = 0; i < CLIENTS; i++) {
		p[i].addr = &addr;
		p[i].handle = 77 + i;
		p[i].seed = 1 + i;
		pthread_create(&p[i].thread, NULL, play, &p[i]);
	}
	for (i = 0; i < CLIENTS; i++)
		pthread_join(p[i].thread, NULL);
	iod_stop(iod);
	iodc_rmdir(dir);
	ck_assert_uint_gt(atomic_load(&misses), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_model");
	TCase *tc = tcase_create("model");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, clients_match_their_models, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
