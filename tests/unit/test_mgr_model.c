/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_model.c - thousands of random operations on the name space, compared with a model in
 * memory, which is simple enough to be checked by reading.  All results must agree, and after each
 * reopening the whole tree.
 */
#include <errno.h>
#include <limits.h>

#include "tests/unit/mgr_fixture.h"
#include "tests/unit/mgr_model.h"

#define OPENS 16

struct held { /* an open file */
	bool used;
	int node;
	uint64_t open;
};

static struct fixture fx;
static const struct ring other_ring = { 1, 2, 1024, 12 };
static struct held held[OPENS];
static unsigned int seed;

static unsigned int rnd(unsigned int n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static const char *random_path(char buf[128])
{
	static const char *const more[] = { ".", "..", "", "/" };
	int depth = 1 + (int)rnd(4);
	char *p = buf;

	for (int i = 0; i < depth; i++) {
		if (rnd(12) == 0)
			p += sprintf(p, "%s/", more[rnd(4)]);
		else
			p += sprintf(p, "%c/", 'a' + rnd(NAMES));
	}
	if (rnd(10))
		p[-1] = '\0';
	if (!buf[0])
		strcpy(buf, "a");
	return buf;
}

static void step_open(const char *path)
{
	bool excl = rnd(2);
	unsigned int i = rnd(OPENS);
	struct inode ino;
	uint64_t open;
	int n = -1, rc;

	if (held[i].used)
		return;
	rc = model_open(path, excl, &n);
	ck_assert_int_eq(fx_open_file(&fx, path,
				      WIRE_O_CREAT | WIRE_O_WRITE |
					      (excl ? WIRE_O_EXCL : 0),
				      0644, &ino, &open),
			 rc);
	if (rc)
		return;
	if (!node[n].handle)
		node[n].handle = ino.handle;
	ck_assert_uint_eq(node[n].handle, ino.handle);
	held[i] = (struct held){ true, n, open };
}

static void step_release(void)
{
	struct held *h = &held[rnd(OPENS)];
	struct node *n = &node[h->node];
	bool wrote = rnd(2);
	uint64_t end = rnd(100000);

	if (!h->used)
		return;
	h->used = false;
	ck_assert_int_eq(fx_release(&fx, n->handle, h->open,
				    wrote ? WIRE_R_WROTE : 0, end, 1),
			 0);
	if (wrote) {
		n->data = true;
		if (end > n->end)
			n->end = end;
	}
	model_last_writer(h->node);
	model_settle(h->node);
}

/* The session ends: all its open files are closed. */
static void step_drop(void)
{
	int count = 0;

	for (int i = 0; i < OPENS; i++) {
		struct node *n = &node[held[i].node];

		if (!held[i].used)
			continue;
		held[i].used = false;
		n->taint = n->data = true;
		model_last_writer(held[i].node);
		model_settle(held[i].node);
		count++;
	}
	while (!FX_DO(&fx, ns_drop_open(&op, fx.session)))
		count--;
	ck_assert_int_eq(count, 0);
	fx.session++;
}

static void check_attr(int n, const struct inode *ino)
{
	const struct node *m = &node[n];

	ck_assert_uint_eq(ino->nlink, m->nlink);
	ck_assert_uint_eq(ino->mode & 07777, m->mode);
	ck_assert(m->type == 'd'   ? S_ISDIR(ino->mode)
		  : m->type == 'l' ? S_ISLNK(ino->mode)
				   : S_ISREG(ino->mode));
	if (m->type == 'f' && m->known)
		ck_assert_uint_eq(ino->size, m->size);
	if (m->type != 'f')
		return;
	ck_assert_int_eq(!(ino->flags & INODE_ASK), m->known);
	ck_assert_uint_eq(ino->dist.ring, fx.ns.ring.id);
	ck_assert_int_eq(dist_check(&ino->dist, fx.ns.ring.n), 0);
}

static void step_stat(const char *path)
{
	bool follow = rnd(2);
	struct ns_size now;
	struct inode ino;
	struct spot s;
	int rc = model_find(path, follow, false, &s), got;

	got = follow ? fx_stat(&fx, path, &ino) : fx_lstat(&fx, path, &ino);
	if (got == NS_ASK) {
		struct node *n = &node[s.node];

		ck_assert(!rc && !n->known && n->taint && !n->writers);
		fx_stat_handle(&fx, n->handle, &ino); /* sets fx.wait */
		ck_assert_uint_eq(fx.wait, n->handle);
		inode_get(fx.db.st, n->handle, &ino);
		n->size = rnd(100000);
		now = (struct ns_size){ .size = n->size, .mtime = 1 };
		ck_assert_int_eq(FX_DO(&fx, ns_store_size(&op, n->handle,
							  ino.gen, &now)),
				 0);
		n->known = true;
		n->taint = false;
		got = fx_stat(&fx, path, &ino);
		if (!follow)
			got = fx_lstat(&fx, path, &ino);
	}
	ck_assert_int_eq(got, rc);
	if (!rc)
		check_attr(s.node, &ino);
}

static void step_truncate(const char *path)
{
	uint64_t size = rnd(50000);
	struct intent in;
	struct spot s;
	struct node *n;
	int rc = model_find(path, true, false, &s);

	if (!rc && node[s.node].type == 'd')
		rc = -EISDIR;
	ck_assert_int_eq(fx_truncate(&fx, path, size, &in), rc);
	if (rc)
		return;
	n = &node[s.node];
	if (n->known && n->size == size) {
		ck_assert_uint_eq(in.id, 0);
		return;
	}
	ck_assert_uint_eq(in.dist.ring, fx.ns.ring.id);
	ck_assert_int_eq(FX_DO(&fx, ns_end_truncate(&op, &in, 0)), 0);
	n->data = true;
	n->size = n->end = size;
	n->taint = n->writers > 0;
	n->known = !n->taint;
}

static void compare_dir(int dir, uint64_t handle)
{
	uint8_t buf[4096];
	struct ns_listing l;
	unsigned int seen = 0, want = 2;
	const struct ns_readdir_args args = { .dir = handle,
					      .buf = buf,
					      .cap = sizeof(buf) };

	ck_assert_int_eq(FX_DO(&fx, ns_readdir(&op, &args, &l)), 0);
	ck_assert(l.eof);
	for (int i = 0; i < NAMES; i++)
		want += node[dir].child[i] >= 0;
	ck_assert_uint_eq(l.count, want);
	for (uint8_t *p = buf; p < buf + l.bytes;) {
		struct wire_dirent *d = (struct wire_dirent *)p;
		const char *name = (const char *)(d + 1);
		struct inode ino;
		int n;

		p += le16toh(d->reclen);
		if (name[0] == '.')
			continue;
		seen++;
		n = node[dir].child[name[0] - 'a'];
		ck_assert_int_ge(n, 0);
		ck_assert_int_eq(
			inode_get(fx.db.st,
				  handle_from_wire(fx.db.st, d->handle), &ino),
			0);
		ck_assert_uint_eq(ino.mode & S_IFMT, le32toh(d->mode));
		check_attr(n, &ino);
		if (node[n].handle)
			ck_assert_uint_eq(ino.handle, node[n].handle);
		if (node[n].type != 'd')
			continue;
		ck_assert_uint_eq(ino.parent, handle);
		compare_dir(n, ino.handle);
	}
	ck_assert_uint_eq(seen + 2, want);
}

/* An intent has the whole layout of its file. */
static void check_removals(void)
{
	struct intent in = { 0 };
	unsigned int n = 0;

	while (!intent_next(fx.db.st, INTENT_REMOVE, in.id, &in)) {
		ck_assert_uint_eq(in.dist.ring, fx.ns.ring.id);
		ck_assert_int_eq(dist_check(&in.dist, fx.ns.ring.n), 0);
		n++;
	}
	ck_assert_uint_eq(n, removes);
}

static void compare_all(void)
{
	uint64_t inodes = 0, real = 0, next = 1;

	compare_dir(0, fx.ns.root);
	for (int i = 0; i < NODES; i++)
		inodes += node[i].used;
	ck_assert_uint_eq(fx.ns.inodes, inodes);
	ck_assert_int_eq(
		inode_count(fx.db.st, UINT64_MAX, UINT_MAX, &next, &real), 0);
	ck_assert_uint_eq(next, 0);
	ck_assert_uint_eq(real, inodes);
	check_removals();
}

static void step(void)
{
	static const char *const verb[] = { "mkdir",   "rmdir",	  "unlink",
					    "symlink", "link",	  "rename",
					    "keep",    "exchange" };
	char a[128], b[128];
	unsigned int what = rnd(40), flags;
	int want, got;

	random_path(a);
	random_path(b);
	if (what < 6)
		want = model_mkdir(a), got = fx_mkdir(&fx, a, 0755), what = 0;
	else if (what < 8)
		want = model_rmdir(a), got = fx_rmdir(&fx, a), what = 1;
	else if (what < 12)
		want = model_unlink(a), got = fx_unlink(&fx, a), what = 2;
	else if (what < 14)
		want = model_symlink(b, a), got = fx_symlink(&fx, b, a),
		what = 3;
	else if (what < 17)
		want = model_link(a, b), got = fx_link(&fx, a, b), what = 4;
	else if (what < 24)
		flags = rnd(2) ? rnd(3) : 0, want = model_rename(a, b, flags),
		got = fx_rename2(&fx, a, b, flags), what = 5 + flags;
	else if (what < 30)
		return step_open(a);
	else if (what < 34)
		return step_release();
	else if (what < 37)
		return step_truncate(a);
	else
		return step_stat(a);
	ck_assert_msg(want == got, "%s %s %s: %d, model %d", verb[what], a, b,
		      got, want);
}

static void use_other_ring(void)
{
	fx.ring = fx.ns.ring = other_ring;
	fx.features = WIRE_FT_COPIES;
}

START_TEST(test_model)
{
	seed = (unsigned int)_i * 7919 + 1;
	memset(held, 0, sizeof(held));
	model_reset();
	fx_open(&fx);
	if (_i % 2)
		use_other_ring();
	for (int i = 1; i <= 6000; i++) {
		step();
		if (i % 400 == 0)
			step_drop();
		if (i % 500 == 0) {
			compare_all();
			fx_reopen(&fx);
			compare_all();
		}
	}
	fx_close(&fx);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("model");
	TCase *cases[] = { tc, NULL };

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_model, 0, 5);
	return fx_main("mgr_model", cases);
}
