/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_readdir.c - a listing of 100,000 entries while others are added and removed: each entry
 * that stays is listed exactly once.
 */
#include <errno.h>

#include "mgr/db/dent.h"
#include "tests/unit/mgr_fixture.h"

#define ENTRIES 100000u

static struct fixture fx;
static uint64_t dir;

static void setup(void)
{
	struct inode ino;

	fx_open(&fx);
	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_stat(&fx, "d", &ino), 0);
	dir = ino.handle;
}

static void teardown(void)
{
	fx_close(&fx);
}

static int list(uint64_t cookie, void *buf, size_t cap, struct ns_listing *l)
{
	const struct ns_readdir_args args = {
		.dir = dir, .cookie = cookie, .buf = buf, .cap = cap
	};

	return FX_DO(&fx, ns_readdir(&op, &args, l));
}

static void entry(char kind, unsigned int n, bool make)
{
	struct dent dent = { .handle = n + 1000, .mode = S_IFREG };
	char name[32];
	int len = snprintf(name, sizeof(name), "%c%u", kind, n);

	ck_assert_int_eq(store_begin(fx.db.st), 0);
	ck_assert_int_eq(make ? dent_insert(fx.db.st, dir, name, (size_t)len,
					    &dent)
			      : dent_del(fx.db.st, dir, name, (size_t)len),
			 0);
	ck_assert_int_eq(store_commit(fx.db.st), 0);
}

/* Entries s stay; entries t are removed and n are added during the listing. */
static void churn(unsigned int round)
{
	for (unsigned int i = round * 40; i < (round + 1) * 40; i++) {
		if (i < ENTRIES / 10)
			entry('t', i, false);
		entry('n', i, true);
	}
}

static const struct wire_dirent *next(const uint8_t **p)
{
	const struct wire_dirent *d = (const struct wire_dirent *)*p;

	*p += le16toh(d->reclen);
	ck_assert_uint_eq((uintptr_t)*p % 8, 0);
	ck_assert_uint_eq(strlen((const char *)(d + 1)), le16toh(d->name_len));
	return d;
}

START_TEST(test_big)
{
	static uint8_t seen[ENTRIES];
	_Alignas(8) static uint8_t buf[32768];
	struct ns_listing l = { 0 };
	unsigned int stay = 0, dots = 0, round = 0;
	uint64_t cookie = 0;

	for (unsigned int i = 0; i < ENTRIES; i++)
		entry(i < ENTRIES / 10 ? 't' : 's', i, true);
	while (!l.eof) {
		const uint8_t *p = buf;

		ck_assert_int_eq(list(cookie, buf, sizeof(buf), &l), 0);
		for (uint32_t i = 0; i < l.count; i++) {
			const struct wire_dirent *d = next(&p);
			const char *name = (const char *)(d + 1);

			ck_assert_uint_gt(le64toh(d->cookie), cookie);
			cookie = le64toh(d->cookie);
			dots += name[0] == '.';
			if (name[0] != 's')
				continue;
			ck_assert_uint_eq(seen[atoi(name + 1)]++, 0);
			ck_assert_uint_eq(handle_from_wire(fx.db.st, d->handle),
					  (uint64_t)atoi(name + 1) + 1000);
			stay++;
		}
		ck_assert_ptr_eq(p, buf + l.bytes);
		churn(round++);
	}
	ck_assert_uint_eq(dots, 2);
	ck_assert_uint_eq(stay, ENTRIES - ENTRIES / 10);
}
END_TEST

/* One turn of a request. */
static int list_turn(uint64_t cookie, bool plus, void *buf, size_t cap,
		     struct ns_listing *l)
{
	const struct ns_readdir_args args = { .dir = dir,
					      .cookie = cookie,
					      .plus = plus,
					      .buf = buf,
					      .cap = cap };
	uint64_t before = ns_work(&fx.ns);
	struct ns_pause pause = { 0 };
	struct ns_op op = fx_begin(&fx);
	int rc;

	op.pause = &pause;
	rc = fx_end(&fx, &op, ns_readdir(&op, &args, l));
	ck_assert_uint_le(ns_work(&fx.ns) - before, NS_TURN_STEPS + 8);
	return rc;
}

/* A turn inspects few rows, and its reply is short; _i: with attributes. */
START_TEST(test_turns)
{
	_Alignas(8) static uint8_t buf[65536];
	const uint8_t *p;
	unsigned int names = 0, answers = 0;
	struct ns_listing l = { 0 };
	uint64_t cookie = 0;
	char name[16];

	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "d/f%u", i);
		ck_assert_int_eq(fx_creat(&fx, name, 0644), 0);
	}
	while (!l.eof) {
		ck_assert_int_eq(list_turn(cookie, _i, buf, sizeof(buf), &l),
				 0);
		p = buf;
		for (uint32_t i = 0; i < l.count; i++) {
			const struct wire_dirent *d = (const void *)p;

			ck_assert_uint_gt(le64toh(d->cookie), cookie);
			cookie = le64toh(d->cookie);
			p += le16toh(d->reclen);
		}
		ck_assert(l.eof || l.count > NS_TURN_STEPS / 2 - 8);
		names += l.count;
		answers++;
	}
	ck_assert_uint_eq(names, 1002);
	ck_assert_uint_eq(answers, _i ? 16 : 8);
}
END_TEST

START_TEST(test_small)
{
	_Alignas(8) uint8_t buf[200];
	struct ns_listing l;
	struct wire_dirent d;

	ck_assert_int_eq(list(0, buf, 31, &l), -EINVAL);
	ck_assert_int_eq(list(0, buf, 32, &l), 0);
	ck_assert_uint_eq(l.count, 1);
	ck_assert(!l.eof);
	ck_assert_int_eq(list(0, buf, sizeof(buf), &l), 0);
	ck_assert_uint_eq(l.count, 2);
	ck_assert(l.eof);
	memcpy(&d, buf, sizeof(d));
	ck_assert_uint_eq(handle_from_wire(fx.db.st, d.handle), dir);
	memcpy(&d, buf + le16toh(d.reclen), sizeof(d));
	ck_assert_uint_eq(handle_from_wire(fx.db.st, d.handle), fx.ns.root);
	ck_assert_int_eq(list(2, buf, sizeof(buf), &l), 0);
	ck_assert_uint_eq(l.count, 0);
	ck_assert(l.eof);
	ck_assert_int_eq(list(UINT64_MAX, buf, sizeof(buf), &l), 0);
	ck_assert(l.eof);
	dir = 0; /* the root */
	ck_assert_int_eq(list(0, buf, sizeof(buf), &l), 0);
	ck_assert_uint_eq(l.count, 3);
	dir = 1234567;
	ck_assert_int_eq(list(0, buf, sizeof(buf), &l), -ESTALE);
}
END_TEST

/* Names with equal hashes are never divided between two replies. */
static void collide(const char *name, uint64_t hash)
{
	struct {
		uint64_t handle;
		uint32_t mode, version;
	} val = { htole64(5), htole32(S_IFREG), htole32(1) };
	uint8_t key[64];
	size_t len = strlen(name);

	key_u64(key_u64(key, dir), hash);
	memcpy(key + 16, name, len);
	ck_assert_int_eq(store_begin(fx.db.st), 0);
	ck_assert_int_eq(store_put(fx.db.st, STORE_DIRENTS, key, 16 + len, &val,
				   sizeof(val)),
			 0);
	ck_assert_int_eq(store_commit(fx.db.st), 0);
}

START_TEST(test_collisions)
{
	_Alignas(8) uint8_t buf[32 * 5];
	struct ns_listing l;

	collide("a", 100);
	collide("b", 200);
	collide("c", 200);
	collide("d", 200);
	collide("e", 300);
	ck_assert_int_eq(list(2, buf, 32 * 3, &l), 0);
	ck_assert_uint_eq(l.count, 1);
	ck_assert_int_eq(list(100, buf, 32 * 2, &l), -EINVAL);
	ck_assert_int_eq(list(100, buf, 32 * 3, &l), 0);
	ck_assert_uint_eq(l.count, 3);
	ck_assert(!l.eof);
	ck_assert_int_eq(list(200, buf, 32 * 3, &l), 0);
	ck_assert_uint_eq(l.count, 1);
	ck_assert(l.eof);
}
END_TEST

static int list_plus(void *buf, size_t cap, struct ns_listing *l)
{
	const struct ns_readdir_args args = {
		.dir = dir, .cookie = 2, .plus = true, .buf = buf, .cap = cap
	};

	return FX_DO(&fx, ns_readdir(&op, &args, l));
}

/*
 * Reads the only entry; its attributes must be those of a lookup.  Returns false if there are none.
 */
static bool told(void)
{
	_Alignas(8) uint8_t buf[256];
	const struct wire_direntplus *d = (const void *)buf;
	struct wire_attr want;
	struct ns_listing l;
	struct inode ino;

	ck_assert_int_eq(list_plus(buf, sizeof(buf), &l), 0);
	ck_assert_uint_eq(l.count, 1);
	ck_assert(l.eof);
	ck_assert(wire_dirent_ok(&d->ent, l.bytes, sizeof(*d)));
	ck_assert_str_eq((const char *)(d + 1), "f");
	if (!d->attr.handle)
		return false;
	ck_assert_int_eq(fx_lstat(&fx, "d/f", &ino), 0);
	ns_fill_attr(&(struct ns_op){ .ns = &fx.ns }, &ino, &want);
	ck_assert_mem_eq(&want, &d->attr, sizeof(want));
	ck_assert_uint_eq(d->ent.handle, d->attr.handle);
	return true;
}

/* Entries have attributes, except for a file whose size only the iods know. */
START_TEST(test_plus)
{
	_Alignas(8) uint8_t buf[256];
	struct ns_listing l;
	struct inode ino;
	uint64_t open;

	ck_assert_int_eq(list_plus(buf, sizeof(buf), &l), 0);
	ck_assert_uint_eq(l.count, 0);
	ck_assert_int_eq(fx_creat(&fx, "d/f", 0640), 0);
	ck_assert(told());
	ck_assert_int_eq(fx_open_file(&fx, "d/f", WIRE_O_WRITE, 0, &ino, &open),
			 0);
	ck_assert(!told());
	ck_assert_int_eq(fx_release(&fx, ino.handle, open,
				    WIRE_R_WROTE | WIRE_R_MTIME, 4711, 99),
			 0);
	ck_assert(told());
	ck_assert_int_eq(fx_open_file(&fx, "d/f", WIRE_O_WRITE, 0, &ino, &open),
			 0);
	ck_assert_int_eq(fx_release(&fx, ino.handle, open, WIRE_R_DOUBT, 0, 0),
			 0);
	ck_assert(!told());
	ck_assert_int_eq(list_plus(buf, 111, &l), -EINVAL);
	ck_assert_int_eq(list_plus(buf, 112, &l), 0);
}
END_TEST

/* Returns the inode number of the only entry, for that user. */
static uint64_t number_for(uint32_t uid)
{
	_Alignas(8) uint8_t buf[256];
	struct ns_listing l;

	fx_become(&fx, uid, uid);
	ck_assert_int_eq(list(2, buf, sizeof(buf), &l), 0);
	ck_assert_uint_eq(l.count, 1);
	fx_become(&fx, 0, 0);
	return ((const struct wire_dirent *)buf)->handle;
}

/* A listing gives no attributes if the user may not search the directory. */
START_TEST(test_no_search)
{
	uint64_t number, handle;
	struct inode ino;

	ck_assert_int_eq(fx_creat(&fx, "d/f", 0644), 0);
	ck_assert_int_eq(fx_stat(&fx, "d/f", &ino), 0);
	handle = number_for(1000);
	ck_assert_uint_eq(handle_from_wire(fx.db.st, handle), ino.handle);
	ck_assert_int_eq(fx_chmod(&fx, "d", 0744), 0);
	number = number_for(1000);
	ck_assert_uint_ne(number, handle);
	ck_assert_uint_eq(number_for(1000), number);
	ck_assert_int_eq(fx_stat_handle(&fx, handle_from_wire(fx.db.st, number),
					&ino),
			 -ESTALE);
	ck_assert_uint_eq(number_for(0), handle);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("readdir");
	TCase *cases[] = { tc, NULL };

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_big);
	tcase_add_test(tc, test_small);
	tcase_add_loop_test(tc, test_turns, 0, 2);
	tcase_add_test(tc, test_collisions);
	tcase_add_test(tc, test_plus);
	tcase_add_test(tc, test_no_search);
	return fx_main("mgr_readdir", cases);
}
