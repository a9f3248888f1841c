/* SPDX-License-Identifier: BSD-2-Clause */
/* test_pvfstab.c - the mount table, and to which mount a path belongs. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/mount/pvfstab.h"
#include "tests/run_suite.h"

#define TEN(x) x x x x x x x x x x
#define LONG TEN(TEN("0123456789"))

static const char lines[] =
	"# comment\n"
	"\n"
	"head:/meta /pvfs pvfs port=3001 0 0\n"
	"[::1]:/ /pvfs//inner/ pvfs timeout=5 0 0\n"
	"a:/ /with\\040blank pvfs transport=pvfs,rw 0 0\n"
	"a:/ /strict pvfs fabric=strict:verbs,server_user=7,dead_peer=4,rdma_gid=::1,rdma_sl=3,inline_max=verbs:1K/local:0,fast_max=8K,rendezvous=adaptive 0 0\n"
	"a:/ /wrong ext4 defaults 0 0\n"
	"a:/ /wrong pvfs port=0 0 0\n"
	"a:/ /wrong pvfs port=x 0 0\n"
	"a:/ /wrong pvfs fabric=strict: 0 0\n"
	"a:/ /wrong pvfs server_user=no-such-user 0 0\n"
	"a:/ /wrong pvfs colour=red 0 0\n"
	"a /wrong pvfs defaults 0 0\n"
	"a:/ wrong pvfs defaults 0 0\n"
	"a:/ /wrong/../x pvfs defaults 0 0\n"
	"a:/ /pv pvfs defaults 0 0\n"
	"a:/ /wrong pvfs rdma_tc=256 0 0\n"
	"a:/ /wrong pvfs rdma_colour=1 0 0\n"
	"a:/ /wrong pvfs inline_max=65K 0 0\n"
	"wrong\n"
	"a:/ /wrong pvfs fabric=tcp:tcp 0 0\n"
	"a:/ /wrong pvfs rendezvous=both 0 0\n"
	"   \t\n"
	"a:/ /wrong pvfs timeout=" LONG " 0 0\n"
	"a:/ /wrong " LONG " rw 0 0\n" LONG " /wrong pvfs rw 0 0\n"
	"a:/ " LONG " pvfs rw 0 0\n"
	"a:/ /wrong pvfs port=1,timeout=2,port=1 0 0\n"
	"a:/ /wrong pvfs ,,rdma_sl=1,,rw,rw,rdma_sl=2 0 0\n"
	"b:/ /pvfs/./inner pvfs rw 0 0\n"
	"b:/ //pvfs/inner pvfs rw 0 0\n"
	"a:/ /last pvfs";

static struct pvfstab tab;
static unsigned int warnings;

/* The messages about the invalid lines, in order. */
static const char *const says[] = {
	":7: the third word is \"ext4\": write ",
	":8: option \"port=0\": write port=1 to ",
	":9: option \"port=x\": write port=1 to ",
	":10: option \"fabric=strict:\": write ",
	":11: option \"server_user=no-such-user\": write ",
	":12: option \"colour=red\" is unknown: correct",
	":13: \"a\" names no manager: write HOST:/",
	":14: mount point \"wrong\": write an absolute path",
	":15: mount point \"/wrong/../x\": write an absolute path",
	":17: option \"rdma_tc=256\": write rdma_tc=0 to 255",
	":18: option \"rdma_colour=1\" is unknown",
	":19: option \"inline_max=65K\": write inline_max=SIZE, or",
	":20: the third word is \"\": write ",
	":21: option \"fabric=tcp:tcp\": write ",
	":22: option \"rendezvous=both\": write rendezvous=server or adaptive",
	"...\": write timeout=1 to 86400 (seconds); the line is skipped",
	": write HOST:/ MOUNT-POINT pvfs OPTIONS 0 0; the line is skipped",
	" names no manager: write HOST:/, and the port as an option; the line",
	": write an absolute path without . and ..; the line is skipped",
	": option \"port=1\": port is there before; take one of the two out;",
	": option \"rdma_sl=2\": rdma_sl is there before; take one",
	": mount point \"/pvfs/./inner\": write an absolute path",
	": mount point \"/pvfs/inner\" is that of a line before: write",
};
#define NSAYS (sizeof(says) / sizeof(says[0]))

static void count(void *arg, enum log_level level, const char *msg)
{
	ck_assert_uint_lt(warnings, NSAYS);
	ck_assert_msg(strstr(msg, says[warnings]), "%s", msg);
	warnings++;
}

static const struct log counter = { LOG_LV_WARN, count, NULL };

static void setup(void)
{
	char name[] = "/tmp/test_pvfstab.XXXXXX";
	int fd = mkstemp(name);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, lines, sizeof(lines) - 1),
			 sizeof(lines) - 1);
	close(fd);
	warnings = 0;
	ck_assert_int_eq(pvfstab_load(name, 30000, &counter, &tab), 0);
	unlink(name);
}

static void teardown(void)
{
	pvfstab_free(&tab);
}

START_TEST(reads_lines)
{
	ck_assert_uint_eq(tab.n, 6);
	ck_assert_uint_eq(warnings, NSAYS);
	ck_assert_str_eq(tab.mount[0].dir, "/pvfs");
	ck_assert_str_eq(tab.mount[0].mgr[0].scheme, "pvfs");
	ck_assert_str_eq(tab.mount[0].mgr[0].host, "head");
	ck_assert_uint_eq(tab.mount[0].mgr[0].port, 3001);
	ck_assert_uint_eq(tab.mount[0].timeout_ms, 30000);
	ck_assert_str_eq(tab.mount[1].dir, "/pvfs/inner");
	ck_assert_str_eq(tab.mount[1].mgr[0].host, "::1");
	ck_assert_uint_eq(tab.mount[1].mgr[0].port, 3000);
	ck_assert_uint_eq(tab.mount[1].timeout_ms, 5000);
	ck_assert_str_eq(tab.mount[2].dir, "/with blank");
	ck_assert_str_eq(tab.mount[2].mgr[0].scheme, "pvfs");
	ck_assert_str_eq(tab.mount[2].fabric, "");
	ck_assert_str_eq(tab.mount[3].fabric, "strict:verbs");
	ck_assert_uint_eq(tab.mount[3].server_uid, 7);
	ck_assert_uint_eq(tab.mount[3].dead_peer_ms, 4000);
	ck_assert_uint_eq(tab.mount[2].dead_peer_ms, 0);
	ck_assert_str_eq(tab.mount[3].rdma.gid, "::1");
	ck_assert_uint_eq(tab.mount[3].rdma.service_level, 3);
	ck_assert_uint_eq(tab.mount[2].rdma.service_level, 0);
	ck_assert_uint_eq(sizes_get(&tab.mount[3].inline_max, "verbs", 7),
			  1024);
	ck_assert_uint_eq(sizes_get(&tab.mount[3].inline_max, "tcp", 7), 7);
	ck_assert_uint_eq(sizes_get(&tab.mount[3].fast_max, "tcp", 7), 8192);
	ck_assert(tab.mount[3].adaptive && !tab.mount[0].adaptive);
}
END_TEST

static const struct {
	const char *what, *options;
	const char *mgrs; /* NULL: rejected with this message */
	const char *flaw;
} lists[] = {
	{ "a,b,c:/", "", "pvfs://a:3000 pvfs://b:3000 pvfs://c:3000 ", NULL },
	{ "a,b:/meta", "port=7", "pvfs://a:7 pvfs://b:7 ", NULL },
	{ "a:1,a:2,a:/", "port=3,transport=tcp",
	  "tcp://a:1 tcp://a:2 tcp://a:3 ", NULL },
	{ "[::1],[fe80::1%eth0]:7,h:/", "",
	  "pvfs://[::1]:3000 pvfs://[fe80::1%eth0]:7 pvfs://h:3000 ", NULL },
	{ "a,b,c,d,e:/", "",
	  "pvfs://a:3000 pvfs://b:3000 pvfs://c:3000 pvfs://d:3000 "
	  "pvfs://e:3000 ",
	  NULL },
	{ "a,b:/x,y", "", "pvfs://a:3000 pvfs://b:3000 ", NULL },
	{ "a:/x,y", "", "pvfs://a:3000 ", NULL },
	{ "a,b,c,d,e,f:/", "", NULL, "names more than 5 managers" },
	{ "a,,b:/", "", NULL, "a comma without a host" },
	{ ",a:/", "", NULL, "a comma without a host" },
	{ "a,:/", "", NULL, "a comma without a host" },
	{ ",:/", "", NULL, "a comma without a host" },
	{ "a,A:/", "", NULL, "names a manager twice" },
	{ "a,b,a:3000:/", "", NULL, "names a manager twice" },
	{ "a,b:0:/", "", NULL, "has a host that is none" },
	{ "a,b:70000:/", "", NULL, "has a host that is none" },
	{ "a,b::/", "", NULL, "has a host that is none" },
	{ "a,b:1:2:/", "", NULL, "has a host that is none" },
	{ "a,::1:/", "", NULL, "has a host that is none" },
	{ "a,[::1:/", "", NULL, "has a host that is none" },
	{ "a,[x]:/", "", NULL, "has a host that is none" },
	{ "a,-b:/", "", NULL, "has a host that is none" },
	{ "a,b c:/", "", NULL, "has a host that is none" },
	{ "a," TEN("0123456789") TEN("0123456789") TEN("0123456789") ":/", "",
	  NULL, "has a host that is none" },
	{ "a,b", "", NULL, "names no manager" },
	{ "a,b:", "", NULL, "names no manager" },
	{ "a:1:/", "", NULL, "names no manager" },
	{ ":/", "", NULL, "names no manager" },
};

static void hear(void *arg, enum log_level level, const char *msg)
{
	snprintf(arg, 4096, "%s", msg);
}

START_TEST(reads_lists_of_managers)
{
	char text[4096] = "", found[ADDR_STRLEN * WIRE_MGR_MAX] = "";
	const struct log log = { LOG_LV_WARN, hear, text };
	struct pvfstab one;
	int rc = pvfstab_line(lists[_i].what, "/pvfs", lists[_i].options, 1,
			      &log, &one);

	if (!lists[_i].mgrs) {
		ck_assert_int_eq(rc, -EINVAL);
		ck_assert_msg(strstr(text, lists[_i].flaw), "%s", text);
		return;
	}
	ck_assert_msg(!rc, "%s", text);
	for (unsigned int i = 0; i < one.mount[0].nmgrs; i++) {
		char uri[ADDR_STRLEN];

		strcat(found,
		       addr_format(&one.mount[0].mgr[i], uri, sizeof(uri)));
		strcat(found, " ");
	}
	ck_assert_str_eq(found, lists[_i].mgrs);
	pvfstab_free(&one);
}
END_TEST

START_TEST(no_file_is_no_mounts)
{
	struct pvfstab none;

	ck_assert_int_eq(pvfstab_load("/nonexistent/tab", 1, NULL, &none), 0);
	ck_assert_uint_eq(none.n, 0);
	ck_assert_int_eq(pvfstab_load("/dev/null/tab", 1, NULL, &none),
			 -ENOTDIR);
}
END_TEST

static const struct {
	const char *path;
	int mount; /* -1: no mount */
	const char *rest;
} finds[] = {
	{ "/pvfs", 0, "" },
	{ "/pvfs/", 0, "" },
	{ "//pvfs///a//b/", 0, "a//b/" },
	{ "/./pvfs/./a", 0, "a" },
	{ "/pvfs/a/../b", 0, "a/../b" },
	{ "/pvfs/../b", 0, "../b" },
	{ "/tmp/../pvfs/b", 0, "b" },
	{ "/../pvfs/b", 0, "b" },
	{ "/pvfs/inner", 1, "" },
	{ "/pvfs/inner/x", 1, "x" },
	{ "/pvfs/./inner/x", 1, "x" },
	{ "/pvfs/innerx", 0, "innerx" },
	{ "/pvfs/x/../inner/y", 0, "x/../inner/y" },
	{ "/pvfs/inner/../y", 1, "../y" },
	{ "/pv", 4, "" },
	{ "/pvf", -1, NULL },
	{ "/pvfsx/a", -1, NULL },
	{ "/", -1, NULL },
	{ "/tmp/pvfs", -1, NULL },
	{ "/pvf/../tmp", -1, NULL },
};

START_TEST(finds_the_longest_prefix)
{
	const char *rest = NULL;
	const struct mount *m = pvfstab_find(&tab, finds[_i].path, &rest);

	if (finds[_i].mount < 0) {
		ck_assert_ptr_null(m);
		return;
	}
	ck_assert_ptr_eq(m, &tab.mount[finds[_i].mount]);
	ck_assert_str_eq(rest, finds[_i].rest);
}
END_TEST

START_TEST(long_paths_end)
{
	static char path[3 * PATH_MAX];
	const char *rest;

	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	ck_assert_ptr_null(pvfstab_find(&tab, path, &rest));
	memcpy(path, "/pvfs/", 6);
	ck_assert_ptr_eq(pvfstab_find(&tab, path, &rest), &tab.mount[0]);
	ck_assert_ptr_eq(rest, path + 6);
}
END_TEST

START_TEST(root_may_be_a_mount)
{
	struct mount m = { .dir = (char *)"/" };
	struct pvfstab root = { &m, 1 };
	const char *rest;

	ck_assert_ptr_eq(pvfstab_find(&root, "/a/b", &rest), &m);
	ck_assert_str_eq(rest, "a/b");
	ck_assert_ptr_eq(pvfstab_find(&root, "/", &rest), &m);
	ck_assert_str_eq(rest, "");
}
END_TEST

START_TEST(makes_paths_absolute)
{
	char buf[PATH_MAX], cwd[PATH_MAX], *big = malloc(PATH_MAX + 1);

	ck_assert_int_eq(path_absolute("/a/b", buf), 0);
	ck_assert_str_eq(buf, "/a/b");
	ck_assert_int_eq(path_absolute("", buf), -ENOENT);
	ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));
	ck_assert_int_eq(path_absolute("x", buf), 0);
	ck_assert_int_eq(strncmp(buf, cwd, strlen(cwd)), 0);
	ck_assert_str_eq(buf + strlen(cwd), "/x");
	memset(big, '/', PATH_MAX);
	big[PATH_MAX] = '\0';
	ck_assert_int_eq(path_absolute(big, buf), -ENAMETOOLONG);
	big[PATH_MAX - 1] = '\0';
	ck_assert_int_eq(path_absolute(big, buf), 0);
	free(big);
}
END_TEST

START_TEST(follows_redirections)
{
	struct mount root = { .dir = (char *)"/" };
	char buf[PATH_MAX];

	ck_assert_int_eq(path_redirected(&tab.mount[0], "/etc/x", buf), 0);
	ck_assert_str_eq(buf, "/etc/x");
	ck_assert_int_eq(path_redirected(&tab.mount[0], "../x", buf), 0);
	ck_assert_str_eq(buf, "//x");
	ck_assert_int_eq(path_redirected(&tab.mount[1], "..", buf), 0);
	ck_assert_str_eq(buf, "/pvfs/");
	ck_assert_int_eq(path_redirected(&tab.mount[1], "../../x", buf), 0);
	ck_assert_str_eq(buf, "/pvfs//../x");
	ck_assert_int_eq(path_redirected(&root, "../x", buf), 0);
	ck_assert_str_eq(buf, "//x");
	ck_assert_int_eq(path_redirected(&root, "x", buf), -EPROTO);
	ck_assert_int_eq(path_redirected(&root, "..x", buf), -EPROTO);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pvfstab");
	TCase *tc = tcase_create("pvfstab");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, reads_lines);
	tcase_add_loop_test(tc, reads_lists_of_managers, 0,
			    (int)(sizeof(lists) / sizeof(lists[0])));
	tcase_add_test(tc, no_file_is_no_mounts);
	tcase_add_loop_test(tc, finds_the_longest_prefix, 0,
			    (int)(sizeof(finds) / sizeof(finds[0])));
	tcase_add_test(tc, long_paths_end);
	tcase_add_test(tc, root_may_be_a_mount);
	tcase_add_test(tc, makes_paths_absolute);
	tcase_add_test(tc, follows_redirections);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
