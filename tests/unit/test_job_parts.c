/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_job_parts.c - what the processes of pvfs-job accept from each other, and what they reject.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "client/tools/job/parts/guests.h"
#include "client/tools/job/parts/place.h"
#include "client/tools/job/parts/link.h"
#include "tests/run_suite.h"

const struct tool job_tool = { .name = "test" };

static struct job_link here, there;
static const uint8_t key[MAC_KEY_LEN] = { 1, 2, 3 }, other[MAC_KEY_LEN] = { 1 };

static void setup(void)
{
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	ck_assert_int_eq(link_init(&here, fd[0]), 0);
	ck_assert_int_eq(link_init(&there, fd[1]), 0);
}

static void teardown(void)
{
	link_close(&here);
	link_close(&there);
}

START_TEST(words)
{
	static const char *const bad[] = { "%", "%4", "%4g", "%00", "a%G0" };
	char text[] = "a b\n%\x7f\x01/\xc3\xa4", word[LINK_WORD];

	link_escape(text, word);
	ck_assert_str_eq(word, "a%20b%0a%25%7f%01/\xc3\xa4");
	ck_assert_int_eq(link_unescape(word), 0);
	ck_assert_str_eq(word, text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		strcpy(word, bad[i]);
		ck_assert_int_eq(link_unescape(word), -EINVAL);
	}
}
END_TEST

START_TEST(names)
{
	static const char *const bad[] = {
		"",    ".",
		"..",  "-a",
		"a/b", "a b",
		"a\n", "0123456789012345678901234567890123456789012345678"
	};

	ck_assert(job_is_id("123") && job_is_id("a.b_c-D"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!job_is_id(bad[i]), "%s", bad[i]);
}
END_TEST

START_TEST(addresses)
{
	static const char *const bad[] = { "",		 ":1",
					   "1.2.3.4",	 "1.2.3.4:",
					   "1.2.3.4:0",	 "1.2.3.4:65536",
					   "1.2.3:1",	 "host:1",
					   "1.2.3.4:-1", "1.2.3.4:1x" };
	struct job_addr a = { .port = 7 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(job_parse_addr(bad[i], &a) == -EINVAL, "%s",
			      bad[i]);
		ck_assert_uint_eq(a.port, 7);
	}
	ck_assert_int_eq(job_parse_addr("10.0.0.1:65535", &a), 0);
	ck_assert_str_eq(a.ip, "10.0.0.1");
	ck_assert_uint_eq(a.port, 65535);
}
END_TEST

START_TEST(lines)
{
	char big[LINK_LINE];
	char *line;

	ck_assert_int_eq(link_say(&here, "one\ntwo\nthr"), 0);
	ck_assert_int_eq(link_wait(&there, clock_after_ms(5000), &line), 0);
	ck_assert_str_eq(line, "one");
	ck_assert_str_eq(link_line(&there), "two");
	ck_assert_ptr_null(link_line(&there));
	ck_assert_int_eq(link_wait(&there, clock_after_ms(10), &line),
			 -ETIMEDOUT);
	link_say(&here, "ee\n");
	ck_assert_int_eq(link_wait(&there, clock_after_ms(5000), &line), 0);
	ck_assert_str_eq(line, "three");
	memset(big, 'x', sizeof(big));
	link_say(&here, "%.*s", (int)sizeof(big), big);
	ck_assert_int_eq(link_wait(&there, clock_after_ms(5000), &line),
			 -EMSGSIZE);
}
END_TEST

START_TEST(ends)
{
	char *line;

	link_say(&here, "last\n");
	link_close(&here);
	ck_assert_int_eq(link_wait(&there, clock_after_ms(5000), &line), 0);
	ck_assert_str_eq(line, "last");
	ck_assert_int_eq(link_wait(&there, clock_after_ms(5000), &line),
			 -EPIPE);
	/* there is no wait for a closed link */
	ck_assert_int_eq(link_wait(&there, clock_after_ms(3600000), &line),
			 -EPIPE);
	ck_assert_int_eq(link_say(&there, "x\n"), -EPIPE);
}
END_TEST

/* The sender does not wait for a reader that does not read, and its buffered bytes are bounded. */
START_TEST(bounded)
{
	char kib[1024] = "";
	unsigned int i = 0;

	memset(kib, 'x', sizeof(kib) - 1);
	while (!link_say(&here, "%s\n", kib))
		ck_assert_uint_lt(++i, 100000);
	ck_assert_int_eq(here.fd, -1);
}
END_TEST

/* Returns the errno of a child that connects. */
static int come(const uint8_t *with, const char *kind)
{
	return -greet_come(&there, with, kind, 3, clock_after_ms(5000));
}

static int meet(const uint8_t *with, const char *kind, int *said)
{
	struct greet g;
	unsigned int rank = 0;
	char *line;
	pid_t pid;
	int rc;

	ck_assert_int_eq(greet_begin(&g, &here), 0);
	pid = fork();
	if (!pid) {
		close(here.fd);
		_exit(come(with, kind));
	}
	ck_assert_int_eq(link_wait(&here, clock_after_ms(5000), &line), 0);
	rc = greet_check(&g, &here, key, "node", line, &rank);
	ck_assert(rc || rank == 3);
	close(here.fd);
	here.fd = -1;
	close(there.fd);
	there.fd = -1;
	ck_assert_int_eq(waitpid(pid, said, 0), pid);
	*said = WEXITSTATUS(*said);
	return rc;
}

START_TEST(greets)
{
	int said;

	ck_assert_int_eq(meet(key, "node", &said), 0);
	ck_assert_int_eq(said, 0);
}
END_TEST

START_TEST(other_key)
{
	int said;

	ck_assert_int_eq(meet(other, "node", &said), -EACCES);
	ck_assert_int_eq(said, EPIPE);
}
END_TEST

START_TEST(other_kind)
{
	int said;

	ck_assert_int_eq(meet(key, "copier", &said), -EACCES);
}
END_TEST

START_TEST(no_hello)
{
	static const char *const bad[] = {
		"", "hello", "hello node 1", "hello node x y z",
		"hello node 1 00112233445566778899aabbccddeeff 00"
	};
	struct greet g;
	unsigned int rank;

	greet_begin(&g, &here);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char line[128];

		strcpy(line, bad[i]);
		ck_assert_int_eq(greet_check(&g, &here, key, "node", line,
					     &rank),
				 -EPROTO);
	}
}
END_TEST

static struct guests guests;

/* Connects, sends nothing, and connects again after each disconnection. */
static void stranger(const struct job_addr *at)
{
	int fd[2 * GUESTS];
	char c[64];

	for (unsigned int i = 0; i < 2 * GUESTS; i++)
		fd[i] = -1;
	for (unsigned int i = 0;; i = (i + 1) % (2 * GUESTS)) {
		if (fd[i] >= 0 && recv(fd[i], c, sizeof(c), MSG_DONTWAIT))
			continue; /* he is still connected */
		close(fd[i]);
		fd[i] = job_connect(at->ip, at->port, clock_after_ms(5000));
	}
}

static pid_t begin(const struct job_addr *at, bool honest)
{
	struct job_link l;
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!honest)
		stranger(at);
	_exit(-greet_meet(&l, at, key, "node", 5, clock_after_ms(30000)));
}

static bool full(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < GUESTS; i++)
		n += guests.of[i].link.fd >= 0;
	return n == GUESTS;
}

/* Serves until all places are taken, or until a client has proved itself.  Returns its rank. */
static int serve(int listener, bool until_full)
{
	uint64_t deadline = clock_after_ms(30000);
	unsigned int rank;

	while (!until_full || !full()) {
		struct job_link link;

		ck_assert_uint_lt(clock_now(), deadline);
		guests_accept(&guests, listener);
		guests_drop_late(&guests);
		for (unsigned int i = 0; i < GUESTS; i++) {
			if (guests.of[i].link.fd < 0 ||
			    guest_hear(&guests.of[i], key, "node", &link,
				       &rank) <= 0)
				continue;
			link_close(&link);
			return (int)rank;
		}
		usleep(1000);
	}
	return -1;
}

/* All places are held by clients without a proof, even on the same host. */
START_TEST(strangers)
{
	struct job_addr at = { .ip = "127.0.0.1" };
	int listener = job_listen(at.ip, &at.port), said;
	pid_t many, one;

	ck_assert_int_ge(listener, 0);
	guests_init(&guests);
	many = begin(&at, false);
	ck_assert_int_eq(serve(listener, true), -1);
	one = begin(&at, true);
	ck_assert_int_eq(serve(listener, false), 5);
	ck_assert_int_eq(waitpid(one, &said, 0), one);
	ck_assert_int_eq(said, 0);
	kill(many, SIGKILL);
	waitpid(many, NULL, 0);
	guests_close(&guests);
	close(listener);
}
END_TEST

/* A port is reserved until a daemon listens on it, which sets SO_REUSEADDR. */
START_TEST(ports)
{
	unsigned int port = 0;
	int fd = port_reserve("127.0.0.1", &port), on = 1, daemon;
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };

	ck_assert_int_ge(fd, 0);
	daemon = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_ne(bind(daemon, (struct sockaddr *)&sa, sizeof(sa)), 0);
	setsockopt(daemon, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	ck_assert_int_eq(bind(daemon, (struct sockaddr *)&sa, sizeof(sa)), 0);
	ck_assert_int_eq(listen(daemon, 1), 0);
	close(daemon);
	close(fd);
}
END_TEST

static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

/*
 * Links in a tree, or in its place, are not followed, and folders of other users are not removed.
 */
START_TEST(removes)
{
	char dir[] = "/tmp/job_parts.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	mkdir("theirs", 0700);
	make_file("theirs/file");
	mkdir("ours", 0700);
	mkdir("ours/a", 0700);
	mkdir("ours/a/b", 0700);
	make_file("ours/a/b/file");
	ck_assert_int_eq(symlink("../theirs", "ours/link"), 0);
	ck_assert_int_eq(symlink("theirs", "link"), 0);
	remove_own_tree("ours");
	remove_own_tree("link");
	remove_own_tree("none");
	ck_assert_int_ne(access("ours", F_OK), 0);
	ck_assert_int_eq(access("theirs/file", F_OK), 0);
	if (!chown("theirs", 65534, 65534)) { /* as root */
		remove_own_tree("theirs");
		ck_assert_int_eq(access("theirs/file", F_OK), 0);
		ck_assert_int_eq(chown("theirs", geteuid(), getegid()), 0);
	}
	remove_own_tree("theirs");
	ck_assert_int_ne(access("theirs", F_OK), 0);
	remove_own_tree(dir);
	ck_assert_int_ne(access(dir, F_OK), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("job_parts");
	TCase *tc = tcase_create("job_parts");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, words);
	tcase_add_test(tc, names);
	tcase_add_test(tc, addresses);
	tcase_add_test(tc, lines);
	tcase_add_test(tc, ends);
	tcase_add_test(tc, bounded);
	tcase_add_test(tc, greets);
	tcase_add_test(tc, other_key);
	tcase_add_test(tc, other_kind);
	tcase_add_test(tc, no_hello);
	tcase_add_test(tc, strangers);
	tcase_add_test(tc, ports);
	tcase_add_test(tc, removes);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
