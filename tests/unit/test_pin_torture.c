/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_pin_torture.c - threads map, unmap, move, discard, allocate and free memory between
 * transfers, and reuse each other's addresses.
 *
 * The transport holds pages as an adapter does.  A registration puts references to the pages into a
 * pipe (vmsplice(2)), and a transfer reads these pages, whatever is mapped there by then.  So if a
 * registration is found again after its memory was unmapped, the bytes differ from those of the
 * program, and the test fails.
 *
 * There are no forks here: unlike those of an adapter, these references do not survive them.
 */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/unit/pin_rig.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define P 4096u
#define THREADS 4
#define STEPS 3000
#define BUFS 4
#define MOST (8 * P) /* fits into a pipe */

/* ---- the transport ---- */

struct tp_dev {
	atomic_int mrs;
};

struct held {
	struct tp_mr mr;
	size_t skip; /* offset in the first page */
	int pipe[2];
};

int tp_dev_open(const char *name, const struct tp_dev_attr *attr,
		struct tp_dev **dev)
{
	*dev = calloc(1, sizeof(**dev));
	return 0;
}

void tp_dev_close(struct tp_dev *dev)
{
	ck_assert_int_eq(dev->mrs, 0);
	free(dev);
}

const char *tp_dev_name(const struct tp_dev *dev)
{
	return "held";
}

bool tp_dev_pins(const struct tp_dev *dev)
{
	return true;
}

/* Allocates separate pages, because untouched memory shares the zero page. */
static void touch(volatile char *p, size_t len)
{
	volatile char *end = p + len;

	for (; p < end; p = (volatile char *)(((uintptr_t)p / P + 1) * P))
		*p = *p;
}

int tp_mr_reg(struct tp_dev *dev, void *addr, size_t len, unsigned int access,
	      struct tp_mr **mr)
{
	struct held *h = calloc(1, sizeof(*h));
	char *lo = (char *)((uintptr_t)addr / P * P);
	struct iovec iov = { lo, (size_t)((char *)addr + len - lo) };

	h->mr = (struct tp_mr){ .dev = dev, .addr = addr, .len = len };
	h->skip = (size_t)((char *)addr - lo);
	ck_assert_int_eq(pipe2(h->pipe, O_NONBLOCK), 0);
	touch(addr, len);
	ck_assert_int_eq(vmsplice(h->pipe[1], &iov, 1, 0),
			 (ssize_t)iov.iov_len);
	atomic_fetch_add(&dev->mrs, 1);
	*mr = &h->mr;
	return 0;
}

void tp_mr_dereg(struct tp_mr *mr)
{
	struct held *h = (struct held *)mr;

	atomic_fetch_sub(&mr->dev->mrs, 1);
	close(h->pipe[0]);
	close(h->pipe[1]);
	free(h);
}

/* Reads the bytes that an adapter would send for [addr, addr + len). */
static void transfer(const struct tp_mr *mr, const char *addr, char *to,
		     size_t len)
{
	const struct held *h = (const struct held *)mr;
	size_t at = (size_t)(addr - (char *)mr->addr) + h->skip;
	char all[MOST + P];
	int p[2];

	ck_assert_int_eq(pipe2(p, O_NONBLOCK), 0);
	ck_assert_int_eq(tee(h->pipe[0], p[1], sizeof(all), 0),
			 (ssize_t)(h->skip + mr->len));
	ck_assert_int_eq(read(p[0], all, sizeof(all)),
			 (ssize_t)(h->skip + mr->len));
	memcpy(to, all + at, len);
	close(p[0]);
	close(p[1]);
}

/* ---- the program ---- */

static struct pin_rig rig;
/* The kernel serializes changes of mappings; ThreadSanitizer does not know that. */
static pthread_mutex_t mapping = PTHREAD_MUTEX_INITIALIZER;

struct player {
	pthread_t thread;
	struct rnd rnd;
	unsigned int n;
	struct buf {
		char *p;
		size_t len;
		bool heap;
		bool split; /* several mappings, which cannot be moved */
	} buf[BUFS];
};

static void get_memory(struct player *w, struct buf *b)
{
	b->len = rnd_in(&w->rnd, 1, MOST / P - 1) * P;
	b->split = false;
	b->heap = rnd_in(&w->rnd, 0, 3) == 0;
	if (b->heap) {
		b->p = malloc(b->len);
		return;
	}
	b->p = mmap(NULL, b->len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(b->p, MAP_FAILED);
}

static void give_back(struct buf *b)
{
	if (b->heap)
		free(b->p);
	else
		munmap(b->p, b->len);
	b->p = NULL;
}

static void move(struct player *w, struct buf *b)
{
	size_t len = rnd_in(&w->rnd, 1, MOST / P - 1) * P;

	if (b->heap)
		b->p = realloc(b->p, len);
	else
		b->p = mremap(b->p, b->len, len, MREMAP_MAYMOVE);
	ck_assert(b->p && b->p != MAP_FAILED);
	b->len = len;
}

static void mmap_over(struct buf *b)
{
	if (b->heap)
		return;
	b->split = true;
	ck_assert_ptr_eq(mmap(b->p, P, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 b->p);
}

static void check_transfer(struct player *w, const struct buf *b)
{
	size_t off = rnd_in(&w->rnd, 0, b->len - 1);
	size_t len = rnd_in(&w->rnd, 1, b->len - off);
	char *p = b->p + off, got[MOST];
	struct pin *pin;

	memset(p, (int)++w->n, len);
	ck_assert_int_eq(pin_get(rig.pins, p, len, TP_REMOTE_READ, &pin), 0);
	transfer(pin_mr(pin), p, got, len);
	ck_assert_mem_eq(got, p, len);
	pin_put(rig.pins, pin);
}

/* Returns false if the memory stays as it is. */
static bool change(struct player *w, struct buf *b)
{
	switch (rnd_in(&w->rnd, 0, 9)) {
	case 0:
	case 1:
		give_back(b);
		return true;
	case 2:
		if (!b->split)
			move(w, b);
		return true;
	case 3:
		if (!b->heap)
			madvise(b->p, b->len, MADV_DONTNEED);
		return true;
	case 4:
		mmap_over(b);
		return true;
	default:
		return false;
	}
}

static void step(struct player *w)
{
	struct buf *b = &w->buf[rnd_in(&w->rnd, 0, BUFS - 1)];
	bool changed;

	pthread_mutex_lock(&mapping);
	if (!b->p)
		get_memory(w, b);
	changed = change(w, b);
	pthread_mutex_unlock(&mapping);
	if (!changed)
		check_transfer(w, b);
}

static void *play(void *arg)
{
	struct player *w = arg;
	int i;

	for (i = 0; i < STEPS; i++)
		step(w);
	pthread_mutex_lock(&mapping);
	for (i = 0; i < BUFS; i++)
		if (w->buf[i].p)
			give_back(&w->buf[i]);
	pthread_mutex_unlock(&mapping);
	return NULL;
}

static void torture(struct pins_attr attr)
{
	struct player w[THREADS] = { 0 };
	int i;

	pin_rig_open(&rig, &attr);
	for (i = 0; i < THREADS; i++) {
		rnd_init(&w[i].rnd, (uint64_t)i + 1);
		ck_assert_int_eq(
			pthread_create(&w[i].thread, NULL, play, &w[i]), 0);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
	pins_stats(rig.pins, &rig.st);
	printf("hits %lu of %lu, for one call %lu, gone %lu, evicted %lu\n",
	       (unsigned long)rig.st.hits,
	       (unsigned long)(rig.st.hits + rig.st.misses),
	       (unsigned long)rig.st.uncached,
	       (unsigned long)rig.st.invalidations,
	       (unsigned long)rig.st.evictions);
	pin_rig_close(&rig);
}

START_TEST(with_room)
{
	torture((struct pins_attr){ .mode = PINS_ON });
	ck_assert_uint_gt(rig.st.hits, 0);
	ck_assert_uint_gt(rig.st.invalidations, 0);
}
END_TEST

START_TEST(with_little_room)
{
	torture((struct pins_attr){
		.mode = PINS_ON, .max_pins = 3, .max_bytes = 12 * P });
	ck_assert_uint_gt(rig.st.evictions, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pin_torture");
	TCase *tc = tcase_create("torture");

	if (pin_rig_skip())
		return 77;
	tcase_set_timeout(tc, 100);
	tcase_add_test(tc, with_room);
	tcase_add_test(tc, with_little_room);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
