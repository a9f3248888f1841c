/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_zone_model.c - random calls on the zones, compared with a model.  The model knows every
 * buffer, every holder and every waiter by number, and checks all of them each time:
 *
 *   No buffer has two holders, and none is lost.
 *   The size of a buffer follows the rule.
 *   No request waits that could be served.
 *   Requests of an owner are served in order.  An owner that may get a buffer sees each other owner
 *     get at most one before its own.
 *   An owner gets no buffer if it holds at least as much as is free.  So no owner holds more than
 *     half and one buffer.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mock_tp.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "common/buffer/zone.h"

#define OWNERS 5
#define ASKS 64
#define BUFS 64
#define STEPS 20000

enum { IDLE, WAITING, HOLDING };

struct ask {
	struct zone_wait wait; /* first */
	int state, owner;
	size_t want;
	unsigned long since; /* number of the request */
	struct zone_buf *buf;
};

static struct model {
	struct zones_attr attr;
	struct zones *zones;
	struct rnd rnd;
	struct zone_owner owner[OWNERS];
	struct ask ask[ASKS];
	/* every buffer that was given out so far */
	struct zone_buf *known[BUFS];
	unsigned int nknown, nfree[ZONES_MAX];
	unsigned long count;
	/* [i][j]: number of buffers that j got while i could have one */
	unsigned int passed[OWNERS][OWNERS];
} m;

static size_t held(int owner)
{
	size_t sum = 0;

	for (int i = 0; i < ASKS; i++)
		if (m.ask[i].state == HOLDING && m.ask[i].owner == owner)
			sum += m.ask[i].buf->len;
	return sum;
}

static struct ask *oldest(int owner)
{
	struct ask *old = NULL;

	for (int i = 0; i < ASKS; i++) {
		struct ask *k = &m.ask[i];

		if (k->state == WAITING && k->owner == owner &&
		    (!old || k->since < old->since))
			old = k;
	}
	return old;
}

static size_t left(void)
{
	size_t sum = 0;

	for (unsigned int i = 0; i < m.attr.n; i++)
		sum += m.nfree[i] * m.attr.zone[i].size;
	return sum;
}

static bool could(int owner)
{
	return oldest(owner) && held(owner) < left();
}

static unsigned int zone_of(size_t len)
{
	unsigned int i = 0;

	while (m.attr.zone[i].size != len)
		ck_assert_uint_lt(++i, m.attr.n);
	return i;
}

static size_t rule(size_t want)
{
	unsigned int i;
	size_t small = 0;

	for (i = 0; i < m.attr.n; i++)
		if (m.nfree[i] && m.attr.zone[i].size >= want)
			return m.attr.zone[i].size;
	for (i = 0; i < m.attr.n; i++)
		if (m.nfree[i])
			small = m.attr.zone[i].size;
	return small;
}

/* Checks that the buffer is complete, has no other holder, and overlaps no other one. */
static void check_buf(const struct zone_buf *buf)
{
	const char *lo = buf->addr, *hi = lo + buf->len;
	unsigned int i;

	for (i = 0; i < ASKS; i++)
		ck_assert(m.ask[i].state != HOLDING || m.ask[i].buf != buf);
	for (i = 0; i < m.nknown && m.known[i] != buf; i++) {
		const char *at = m.known[i]->addr;

		ck_assert(at + m.known[i]->len <= lo || hi <= at);
	}
	ck_assert_uint_lt(i, BUFS);
	if (i == m.nknown)
		m.known[m.nknown++] = (struct zone_buf *)buf;
}

/* The request has its buffer.  If it waited, other requests may have been served before it. */
static void given(struct ask *k, struct zone_buf *buf, bool waited)
{
	int i;

	check_buf(buf);
	ck_assert_uint_eq(buf->len, rule(k->want));
	ck_assert_uint_lt(held(k->owner), left());
	if (waited)
		ck_assert_ptr_eq(oldest(k->owner), k);
	for (i = 0; i < OWNERS; i++) {
		if (i != k->owner && could(i))
			ck_assert_uint_le(++m.passed[i][k->owner], 1);
	}
	m.nfree[zone_of(buf->len)]--;
	memset(m.passed[k->owner], 0, sizeof(m.passed[k->owner]));
	k->state = HOLDING;
	k->buf = buf;
	memset(buf->addr, (int)(k - m.ask), 16);
}

static void put(struct ask *k)
{
	const unsigned char *p = k->buf->addr;
	struct zone_buf *buf = k->buf;

	ck_assert(p[0] == k - m.ask && p[15] == k - m.ask);
	k->state = IDLE;
	m.nfree[zone_of(buf->len)]++;
	zone_put(m.zones, buf);
}

/* Some requests return their buffers, or ask again, inside the callback. */
static void some_ask(void);

static void ready(struct zone_wait *wait, struct zone_buf *buf)
{
	struct ask *k = (struct ask *)wait;

	given(k, buf, true);
	switch (rnd_in(&m.rnd, 0, 5)) {
	case 0:
		put(k);
		break;
	case 1:
		some_ask();
	}
}

static void ask(struct ask *k, int owner)
{
	struct zone_buf *buf;

	k->wait.ready = ready;
	k->owner = owner;
	k->want = rnd_in(&m.rnd, 1, 5 * 65536);
	k->since = ++m.count;
	buf = zone_get_wait(m.zones, &m.owner[owner], k->want, &k->wait);
	if (buf)
		given(k, buf, false);
	else
		k->state = WAITING;
}

/* The first owner asks as often as all others together. */
static void some_ask(void)
{
	struct ask *k = &m.ask[rnd_in(&m.rnd, 0, ASKS - 1)];
	int owner = (int)rnd_in(&m.rnd, 0, 2 * (OWNERS - 1));

	if (k->state == IDLE)
		ask(k, owner < OWNERS ? owner : 0);
}

static void cancel(struct ask *k)
{
	k->state = IDLE;
	if (!oldest(k->owner))
		memset(m.passed[k->owner], 0, sizeof(m.passed[0]));
	zone_wait_cancel(m.zones, &k->wait);
}

static void check_all(void)
{
	struct zones_stats stats;
	unsigned int i;

	zones_stats(m.zones, &stats);
	for (i = 0; i < m.attr.n; i++) {
		ck_assert_uint_eq(stats.zone[i].in_use,
				  m.attr.zone[i].count - m.nfree[i]);
	}
	for (i = 0; i < OWNERS; i++) {
		ck_assert_uint_eq(held((int)i), m.owner[i].held);
		ck_assert_uint_lt(m.owner[i].held,
				  zones_bytes(&m.attr) / 2 +
					  m.attr.zone[m.attr.n - 1].size);
		ck_assert(!could((int)i));
	}
}

static void step(void)
{
	struct ask *k = &m.ask[rnd_in(&m.rnd, 0, ASKS - 1)];

	if (k->state == HOLDING)
		put(k);
	else if (k->state == WAITING && !rnd_in(&m.rnd, 0, 9))
		cancel(k);
	else
		some_ask();
	check_all();
}

static void drain(void)
{
	int i;

	for (i = 0; i < ASKS; i++)
		if (m.ask[i].state == WAITING)
			cancel(&m.ask[i]);
	for (i = 0; i < ASKS; i++)
		if (m.ask[i].state == HOLDING)
			put(&m.ask[i]);
}

static void run(struct zones_attr attr)
{
	struct rails rails = { .n = 1 };
	struct zones_stats stats;
	int i;

	memset(&m, 0, sizeof(m));
	rnd_init(&m.rnd, 1 + attr.n);
	ck_assert_int_eq(tp_dev_open("mock", NULL, &rails.dev[0]), 0);
	attr.rails = &rails;
	m.attr = attr;
	ck_assert_int_eq(zones_open(&attr, &m.zones), 0);
	for (i = 0; i < (int)attr.n; i++)
		m.nfree[i] = attr.zone[i].count;
	for (i = 0; i < OWNERS; i++)
		zone_owner_init(&m.owner[i]);
	for (i = 0; i < STEPS; i++)
		step();
	drain();
	check_all();
	zones_stats(m.zones, &stats);
	ck_assert_uint_gt(stats.waits, 0);
	for (i = 0; i < (int)attr.n; i++)
		ck_assert_uint_eq(stats.zone[i].in_use, 0);
	zones_close(m.zones);
	tp_dev_close(rails.dev[0]);
}

START_TEST(one_size)
{
	run((struct zones_attr){ .n = 1, .zone = { { 65536, 6 } } });
}
END_TEST

START_TEST(one_buffer)
{
	run((struct zones_attr){ .n = 1, .zone = { { 65536, 1 } } });
}
END_TEST

START_TEST(four_sizes)
{
	run((struct zones_attr){ .n = 4,
				 .zone = { { 65536, 4 },
					   { 2 * 65536, 3 },
					   { 3 * 65536, 3 },
					   { 4 * 65536, 2 } } });
}
END_TEST

int main(void)
{
	Suite *s = suite_create("zone_model");
	TCase *tc = tcase_create("model");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, one_size);
	tcase_add_test(tc, one_buffer);
	tcase_add_test(tc, four_sizes);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
