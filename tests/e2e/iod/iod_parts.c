/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_parts.c - the log line about a slow request names its cause: a disk, a flush, a client that
 * does not move its data, or a buffer.  There are few such lines.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"
#include "tests/e2e/iod/stalled.h"

#define HANG_MS 400u
#define LEAST_MS 300u /* minimum time in the part that hangs */
#define SLOW_MS 100u

static char dir[64];
static struct iod *iod;
static struct addr addr;
static struct iodc client, mgr;

/* Interposed system calls of the iod: the next call of a kind hangs. */
static atomic_bool slow_write, slow_flush;
static atomic_uint each_us; /* duration of every write */

static void hang(atomic_bool *on)
{
	if (atomic_exchange(on, false))
		usleep(HANG_MS * 1000);
}

int fdatasync(int fd)
{
	hang(&slow_flush);
	return (int)syscall(SYS_fdatasync, fd);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t off)
{
	hang(&slow_write);
	usleep(atomic_load(&each_us));
	return syscall(SYS_pwrite64, fd, buf, len, off);
}

/* ---- the log ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int lines, more;
static char line[1024]; /* the last line */

static void sink(void *arg, enum log_level level, const char *msg)
{
	const char *rest = strstr(msg, "; ");

	(void)arg, (void)level;
	if (strncmp(msg, "slow: ", 6))
		return;
	pthread_mutex_lock(&lock);
	lines++;
	snprintf(line, sizeof(line), "%s", msg);
	for (; rest; rest = strstr(rest + 1, "; "))
		if (strstr(rest, " more without a line"))
			more += strstr(rest + 1, "; ")
					? 0
					: (unsigned int)atoi(rest + 2);
	pthread_mutex_unlock(&lock);
}

static unsigned int lines_now(void)
{
	unsigned int n;

	pthread_mutex_lock(&lock);
	n = lines;
	pthread_mutex_unlock(&lock);
	return n;
}

/* Returns the ms after " name " in the last line. */
static unsigned int ms(const char *name)
{
	char word[16];
	const char *at;

	snprintf(word, sizeof(word), " %s ", name);
	at = strstr(line, word);
	ck_assert_msg(at, "%s", line);
	return (unsigned int)atoi(at + strlen(word));
}

/*
 * The last line is about op. The parts add up to the whole time, and most of HANG_MS is in `part`.
 */
static void said(const char *op, const char *part)
{
	static const char *const parts[] = { "queue", "buffer", "network",
					     "disk",  "flush",	"other" };
	unsigned int sum = 0, took;

	ck_assert_uint_gt(lines_now(), 0);
	ck_assert_msg(!strncmp(line + 6, op, strlen(op)), "%s", line);
	ck_assert_msg(ms(part) >= LEAST_MS, "%s", line);
	for (unsigned int i = 0; i < 6; i++)
		sum += ms(parts[i]);
	took = ms("took");
	ck_assert_msg(sum <= took && sum + 6 >= took, "%s", line);
	ck_assert_msg(strstr(line, "job -"), "%s", line);
}

static const struct log to_lines = { .level = LOG_LV_WARN, .sink = sink };

static void start(unsigned int slow_ms)
{
	struct iod_conf conf;

	iodc_mkdir(dir);
	lines = more = 0;
	line[0] = '\0';
	atomic_store(&each_us, 0);
	iod_here_conf(&conf, dir);
	conf.threads = 1;
	conf.zones.n = 1;
	conf.zones.zone[0].size = 64 << 10;
	conf.zones.zone[0].count = 4;
	conf.slow_ms = slow_ms;
	iod_here_start(&conf, &to_lines, &iod, &addr);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
	iodc_open_mgr(&mgr, &addr);
}

static void setup(void)
{
	start(SLOW_MS);
}

static void setup_off(void)
{
	start(0);
}

static void setup_many(void)
{
	start(1);
}

static void teardown(void)
{
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	iodc_rmdir(dir);
}

START_TEST(disk)
{
	atomic_store(&slow_write, true);
	ck_assert_int_eq(iodc_pwrite(&client, 0x1a5, 0, 100), 0);
	said("WRITE of 00000000000001a5 ", "disk");
	atomic_store(&slow_write, true);
	ck_assert_int_eq(iodc_pwrite(&client, 0x1a5, 0, 1 << 20), 0);
	said("WRITE of 00000000000001a5 ", "disk");
}
END_TEST

START_TEST(flush)
{
	ck_assert_int_eq(iodc_pwrite(&client, 5, 0, 100), 0);
	atomic_store(&slow_flush, true);
	ck_assert_int_eq(iodc_sync(&client, 5), 0);
	said("SYNC ", "flush");
}
END_TEST

/* ---- a client that does not move its data ---- */

static void move_on(struct stalled *s)
{
	while (!s->over)
		rpc_ctx_progress(s->c.ctx, clock_after_ms(100));
	iodc_close(&s->c);
}

START_TEST(network)
{
	struct stalled *s = calloc(1, sizeof(*s));

	stall(s, &addr, 9, 60000);
	catch_up(&client);
	usleep(HANG_MS * 1000);
	move_on(s);
	said("WRITE of 0000000000000009 ", "network");
	free(s);
}
END_TEST

static void *write_much(void *arg)
{
	must(!iodc_pwrite(arg, 6, 0, 1 << 20));
	return NULL;
}

/* the first has two of the four buffers, the others one each */
#define HOLDERS 3u

/* The holders release their buffers after the next request has waited. */
START_TEST(buffer)
{
	struct stalled *s = calloc(HOLDERS, sizeof(*s));
	struct iodc next;
	pthread_t thread;

	for (unsigned int i = 0; i < HOLDERS; i++)
		stall(&s[i], &addr, 10 + i, 60000);
	catch_up(&client);
	iodc_open(&next, &addr, WIRE_ROLE_CLIENT, 0);
	must(!pthread_create(&thread, NULL, write_much, &next));
	usleep(2 * HANG_MS * 1000);
	for (unsigned int i = 0; i < HOLDERS; i++)
		iodc_close(&s[i].c);
	pthread_join(thread, NULL);
	iodc_close(&next);
	said("WRITE of 0000000000000006 ", "buffer");
	free(s);
}
END_TEST

START_TEST(off)
{
	atomic_store(&slow_write, true);
	ck_assert_int_eq(iodc_pwrite(&client, 5, 0, 100), 0);
	ck_assert_uint_eq(lines_now(), 0);
}
END_TEST

/* All requests are slow.  Some have a line, and these lines count the others. */
START_TEST(few_lines)
{
	unsigned int n = 100;
	uint64_t began = clock_now(), seconds;

	atomic_store(&each_us, 2000);
	for (unsigned int i = 0; i < n; i++)
		ck_assert_int_eq(iodc_pwrite(&client, 5, 0, 100), 0);
	seconds = (clock_now() - began) / CLOCK_NS_PER_MS / 1000 + 2;
	ck_assert_uint_le(lines_now(), 4 * seconds);
	usleep(1100 * 1000);
	ck_assert_int_eq(iodc_pwrite(&client, 5, 0, 100), 0);
	ck_assert_uint_ge(lines + more, n + 1);
}
END_TEST

static TCase *with(const char *name, void (*begin)(void))
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, begin, teardown);
	return tc;
}

int main(void)
{
	Suite *s = suite_create("iod_parts");
	TCase *slow = with("slow", setup), *none = with("off", setup_off),
	      *many = with("many", setup_many);

	tcase_add_test(slow, disk);
	tcase_add_test(slow, flush);
	tcase_add_test(slow, network);
	tcase_add_test(slow, buffer);
	tcase_add_test(none, off);
	tcase_add_test(many, few_lines);
	suite_add_tcase(s, slow);
	suite_add_tcase(s, none);
	suite_add_tcase(s, many);
	return run_suite(s);
}
