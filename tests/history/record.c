/* SPDX-License-Identifier: BSD-2-Clause */
/* record.c - see record.h. */
#include "tests/history/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

uint64_t boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

int log_create(struct log *log, const char *path, uint16_t writer, size_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	void *base;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size)) {
		close(fd);
		return -errno;
	}
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (base == MAP_FAILED)
		return -errno;
	*log = (struct log){ .base = base, .size = size, .writer = writer };
	return 0;
}

bool log_full(const struct log *log)
{
	return log->size - log->used <
	       2 * (sizeof(struct op) + VALUES_MAX * sizeof(uint64_t));
}

struct op *log_next(struct log *log, enum op_kind kind, enum object_kind okind,
		    uint32_t object, uint32_t nval)
{
	struct op *op = (struct op *)(void *)(log->base + log->used);

	if (log_full(log) || nval > VALUES_MAX)
		return NULL;
	log->used += sizeof(*op) + nval * sizeof(op->val[0]);
	op->writer = log->writer;
	op->no = ++log->no;
	op->kind = (uint8_t)kind;
	op->object_kind = (uint8_t)okind;
	op->object = (uint16_t)object;
	op->nval = nval;
	return op;
}

static volatile sig_atomic_t went_on;

static void note_went_on(int sig)
{
	went_on = 1;
}

void record_stops(void)
{
	struct sigaction sa = { .sa_handler = note_went_on,
				.sa_flags = SA_RESTART };

	sigaction(SIGCONT, &sa, NULL);
}

void op_begin(struct op *op)
{
	went_on = 0;
	op->begin = boot_ns();
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint8_t *)&op->state = OP_BEGUN;
	atomic_signal_fence(memory_order_seq_cst);
}

void op_end(struct op *op, int32_t result)
{
	op->end = boot_ns();
	op->result = result;
	op->stopped = went_on != 0;
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint8_t *)&op->state = OP_DONE;
}

/* ---- blocks ---- */

/* splitmix64's last step: no two words of a block are alike. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

void block_fill(void *block, uint64_t val, uint64_t place)
{
	uint64_t *word = block, seed = mix(val) ^ place;
	unsigned int i;

	if (val == VALUE_ZERO) {
		memset(block, 0, BLOCK);
		return;
	}
	word[0] = val;
	for (i = 1; i < BLOCK / sizeof(*word); i++)
		word[i] = mix(seed + i);
}

uint64_t block_value(const void *block, uint64_t place)
{
	uint64_t want[BLOCK / sizeof(uint64_t)], val;

	memcpy(&val, block, sizeof(val));
	if (val == VALUE_TORN)
		return VALUE_TORN;
	block_fill(want, val, place);
	return memcmp(block, want, BLOCK) ? VALUE_TORN : val;
}
