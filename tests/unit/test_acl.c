/* SPDX-License-Identifier: BSD-2-Clause */
/* test_acl.c - access control lists, compared with models that try all cases. */
#include <check.h>
#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <string.h>

#include "mgr/ns/acl.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

static struct rnd rnd;

static uint32_t below(uint32_t n)
{
	return (uint32_t)rnd_in(&rnd, 0, n - 1);
}

/* ---- valid lists ---- */

static const uint16_t tags[] = { ACL_USER_OBJ, ACL_USER, ACL_GROUP_OBJ,
				 ACL_GROUP,    ACL_MASK, ACL_OTHER,
				 0x40 };
#define NTAGS (sizeof(tags) / sizeof(tags[0]))
#define LONGEST 6u

/* A valid list, as text: u U* g G* m? o, and m is required with U or G. */
static bool model_valid(const char *s)
{
	bool named = strpbrk(s, "UG");

	if (*s++ != 'u')
		return false;
	s += strspn(s, "U");
	if (*s++ != 'g')
		return false;
	s += strspn(s, "G");
	if (*s == 'm')
		s++;
	else if (named)
		return false;
	return !strcmp(s, "o");
}

static struct acl of_number(unsigned int v, unsigned int n, char *text)
{
	struct acl acl = { .n = n };

	for (unsigned int i = 0; i < n; i++, v /= NTAGS) {
		acl.e[i] = (struct acl_entry){ tags[v % NTAGS], 5, i };
		text[i] = "uUgGmo?"[v % NTAGS];
	}
	text[n] = '\0';
	return acl;
}

START_TEST(test_order)
{
	uint8_t bytes[ACL_BYTES_MAX];
	unsigned int all = 1;

	for (unsigned int n = 1; n <= LONGEST; n++) {
		all *= NTAGS;
		for (unsigned int v = 0; v < all; v++) {
			char text[LONGEST + 1];
			struct acl acl = of_number(v, n, text), back;
			size_t len = acl_pack(&acl, bytes);
			int rc = acl_parse(bytes, len, &back);

			if (rc != (model_valid(text) ? 0 : -EINVAL))
				ck_abort_msg("%s: %d", text, rc);
		}
	}
}
END_TEST

static int parse(uint32_t version, uint16_t perm, uint32_t id, size_t len)
{
	struct acl acl = { .n = 5,
			   .e = { { ACL_USER_OBJ, 7, 0 },
				  { ACL_USER, perm, id },
				  { ACL_GROUP_OBJ, 7, 0 },
				  { ACL_MASK, 7, 0 },
				  { ACL_OTHER, 0, 0 } } };
	struct posix_acl_xattr_header head = { htole32(version) };
	uint8_t bytes[ACL_BYTES_MAX];
	struct acl out;

	acl_pack(&acl, bytes);
	memcpy(bytes, &head, sizeof(head));
	return acl_parse(bytes, len, &out);
}

START_TEST(test_bytes)
{
	static uint8_t big[ACL_BYTES_MAX + 8] = { POSIX_ACL_XATTR_VERSION };
	struct acl acl;

	ck_assert_int_eq(parse(2, 7, 1, 44), 0);
	ck_assert_int_eq(parse(1, 7, 1, 44), -EOPNOTSUPP);
	ck_assert_int_eq(parse(3, 7, 1, 44), -EOPNOTSUPP);
	ck_assert_int_eq(parse(2, 8, 1, 44), -EINVAL);
	ck_assert_int_eq(parse(2, 7, UINT32_MAX, 44), -EINVAL);
	for (size_t len = 1; len < 44; len++)
		if (len != 4)
			ck_assert_int_eq(parse(2, 7, 1, len), -EINVAL);
	/* no list: the list is removed */
	ck_assert_int_eq(parse(2, 7, 1, 4), 0);
	ck_assert_int_eq(parse(2, 7, 1, 0), 0);
	ck_assert_int_eq(acl_parse(big, sizeof(big), &acl), -ENOSPC);
	ck_assert_int_eq(acl_parse(big, sizeof(big) - 8, &acl), -EINVAL);
}
END_TEST

/* ---- access ---- */

static void add(struct acl *acl, uint16_t tag, uint32_t id)
{
	acl->e[acl->n++] = (struct acl_entry){ tag, (uint16_t)below(8), id };
}

static void add_named(struct acl *acl, uint16_t tag)
{
	for (uint32_t id = 1; id < 5; id++)
		if (below(3) == 0)
			add(acl, tag, id);
}

static struct acl random_acl(void)
{
	struct acl acl = { 0 };

	add(&acl, ACL_USER_OBJ, 0);
	add_named(&acl, ACL_USER);
	add(&acl, ACL_GROUP_OBJ, 0);
	add_named(&acl, ACL_GROUP);
	if (acl.n > 2 || below(2))
		add(&acl, ACL_MASK, 0);
	add(&acl, ACL_OTHER, 0);
	return acl;
}

struct model {
	int user[8], group[8]; /* -1: no entry; group 0 is that of the file */
	int owner, mask, other;
};

static struct model read_acl(const struct acl *acl)
{
	struct model m;

	memset(&m, -1, sizeof(m));
	m.mask = 7;
	for (uint32_t i = 0; i < acl->n; i++) {
		const struct acl_entry *e = &acl->e[i];

		if (e->tag == ACL_USER)
			m.user[e->id] = e->perm;
		else if (e->tag == ACL_GROUP)
			m.group[e->id] = e->perm;
		else if (e->tag == ACL_GROUP_OBJ)
			m.group[0] = e->perm;
		else
			*(e->tag == ACL_MASK	   ? &m.mask
			  : e->tag == ACL_USER_OBJ ? &m.owner
						   : &m.other) = e->perm;
	}
	return m;
}

/* The groups 1 to 7 of the user are bits; gid is that of the file. */
static bool model_may(const struct model *m, uint32_t uid, uint32_t in,
		      uint32_t gid, int want)
{
	bool member = false;

	if (m->user[uid] >= 0)
		return !(want & ~(m->user[uid] & m->mask));
	for (uint32_t g = 0; g < 8; g++) {
		if (m->group[g] < 0 || !(in >> (g ? g : gid) & 1))
			continue;
		member = true;
		if (!(want & ~(m->group[g] & m->mask)))
			return true;
	}
	return !member && !(want & ~m->other);
}

static struct ns_cred cred_of(uint32_t uid, uint32_t in, uint32_t groups[8])
{
	struct ns_cred cred = { .uid = uid, .groups = groups };

	for (uint32_t g = 1; g < 8; g++)
		if (in >> g & 1)
			groups[cred.ngroups++] = g;
	cred.gid = groups[--cred.ngroups];
	return cred;
}

static void compare(const struct acl *acl, const struct model *m)
{
	uint32_t groups[8], in = 2u << below(7) | below(128) << 1;
	uint32_t uid = 1 + below(6);
	uint32_t gid = 1 + below(6);
	struct ns_cred cred = cred_of(uid, in, groups);

	for (uint32_t want = 0; want < 8; want++)
		ck_assert_int_eq(acl_may(acl, &cred, gid, want),
				 model_may(m, uid, in, gid, (int)want)
					 ? 0
					 : -EACCES);
}

START_TEST(test_may)
{
	for (int i = 0; i < 50000; i++) {
		struct acl acl = random_acl();
		struct model m = read_acl(&acl);

		compare(&acl, &m);
	}
}
END_TEST

/* ---- the mode ---- */

static bool has_mask(const struct acl *acl)
{
	return acl->e[acl->n - 2].tag == ACL_MASK;
}

/* No new file gives more rights than both the mode and the default list. */
START_TEST(test_create)
{
	for (int i = 0; i < 50000; i++) {
		struct acl acl = random_acl();
		struct model m = read_acl(&acl);
		uint32_t asked = below(010000), mode;

		m.owner &= (int)(asked >> 6 & 7);
		*(has_mask(&acl) ? &m.mask
				 : &m.group[0]) &= (int)(asked >> 3 & 7);
		m.other &= (int)(asked & 7);
		mode = acl_create(&acl, asked);
		compare(&acl, &m);
		ck_assert_uint_eq(mode, acl_mode(&acl, asked));
		ck_assert_uint_eq(mode >> 9, asked >> 9);
		ck_assert_int_eq((int)(mode >> 6 & 7), m.owner);
		ck_assert(acl_is_mode(&acl) == (acl.n == 3));
	}
}
END_TEST

START_TEST(test_chmod)
{
	for (int i = 0; i < 50000; i++) {
		struct acl acl = random_acl();
		struct model m = read_acl(&acl);
		uint32_t mode = below(010000);

		*(has_mask(&acl) ? &m.mask
				 : &m.group[0]) = (int)(mode >> 3 & 7);
		m.other = (int)(mode & 7);
		acl_chmod(&acl, mode);
		compare(&acl, &m);
		ck_assert_uint_eq(acl_mode(&acl, mode & ~0777u), mode);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acl");
	TCase *tc = tcase_create("acl");

	rnd_init(&rnd, 1);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_order);
	tcase_add_test(tc, test_bytes);
	tcase_add_test(tc, test_may);
	tcase_add_test(tc, test_create);
	tcase_add_test(tc, test_chmod);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
