/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_waits.c - requests that wait inside the manager: for an iod, for a free job, for a buffer.
 * Each ends at its deadline at the latest, with a log line that names the reason. A request that
 * runs after its wait uses the state of that moment.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

static struct mgrrig rig;
static struct mgrc c;

static void teardown(void)
{
	mgrc_close(&c, true);
	rig_close(&rig);
}

static void setup_room(void)
{
	rig_serve(&rig, "iod_calls = 3", &c);
}

static void setup_slots(void)
{
	rig_serve(&rig, "slots = 64", &c); /* see SLOTS */
}

static void chmod_to(const char *path, uint32_t mode)
{
	struct wire_setattr body = { .valid = htole32(WIRE_S_MODE),
				     .mode = htole32(mode),
				     .path_len = htole32(strlen(path)) };
	struct mgrc_item item = { path, strlen(path) };

	ck_assert_int_eq(
		mgrc_call(&c, WIRE_SETATTR, &body, sizeof(body), &item, 1), 0);
}

/* Creates a file that all users may write, with an object on each iod. */
static uint64_t make(const char *path)
{
	struct wire_attr attr;
	uint64_t h;

	ck_assert_int_eq(mgrc_make(&c, path, 1), 0);
	chmod_to(path, 0666);
	ck_assert_int_eq(mgrc_stat(&c, path, &attr), 0);
	h = le64toh(attr.handle);
	for (int i = 0; i < RIG_IODS; i++)
		fakeiod_set(&rig.iod[i], h, 1);
	return h;
}

static unsigned int held(int i)
{
	return fakeiod_get(&rig.iod[i], &rig.iod[i].nheld);
}

/* A call in flight. */
struct post {
	struct rpc_call call;
	uint64_t msg[64];
	int status; /* 1: no reply yet */
	uint64_t handle; /* the result of an OPEN */
};

static void on_done(struct rpc_call *call)
{
	struct post *p = call->arg;
	struct wire_open_rep rep;

	p->status = call->status;
	if (call->status || call->reply.body_len != sizeof(rep))
		return;
	memcpy(&rep, call->reply.body, sizeof(rep));
	p->handle = le64toh(rep.attr.handle);
}

static void post(struct mgrc *who, struct post *p, unsigned int op,
		 const void *body, size_t len, const char *path)
{
	struct mgrc_item item = { path, path ? strlen(path) : 0 };

	p->status = 1;
	p->call = (struct rpc_call){ .msg = p->msg,
				     .deadline = clock_after_ms(20000),
				     .done = on_done,
				     .arg = p };
	p->call.msg_len = mgrc_build(p->msg, op, body, len, &item, !!path);
	rpc_call_start(who->peer, &p->call);
}

static void post_truncate(struct mgrc *who, struct post *p, const char *path)
{
	struct wire_truncate t = { .size = htole64(5),
				   .path_len = htole32(strlen(path)) };

	post(who, p, WIRE_TRUNCATE, &t, sizeof(t), path);
}

static void post_open(struct mgrc *who, struct post *p, const char *path)
{
	struct wire_open o = { .flags = htole32(WIRE_O_WRITE | WIRE_O_TRUNC),
			       .path_len = htole32(strlen(path)) };

	post(who, p, WIRE_OPEN, &o, sizeof(o), path);
}

#define turn_until(who, cond)                                                  \
	rig_until((rpc_ctx_progress((who)->ctx, clock_after_ms(5)), cond))

START_TEST(test_room)
{
	struct post first, second, third;

	make("f");
	make("g");
	make("h");
	for (int i = 0; i < RIG_IODS; i++)
		atomic_store(&rig.iod[i].hold, true);
	post_truncate(&c, &first, "f");
	turn_until(&c, held(0) == 1);
	c.timeout_ms = 500;
	ck_assert_int_eq(mgrc_truncate(&c, "g", 7), -ETIMEDOUT);
	ck_assert(rig_says(&rig, "its turn among other truncations"));
	post_truncate(&c, &second, "g");
	post_truncate(&c, &third, "h");
	/* the manager has both requests when it replies to a later one */
	c.timeout_ms = 20000;
	ck_assert_int_eq(mgrc_mkdir(&c, "d"), 0);
	ck_assert_uint_eq(held(0), 1);
	for (int i = 0; i < RIG_IODS; i++)
		fakeiod_release(&rig.iod[i]);
	turn_until(&c, !first.status && !second.status && !third.status);
	ck_assert_uint_eq(fakeiod_get(&rig.iod[0], &rig.iod[0].resizes), 3);
}
END_TEST

/* A client asks for the size of a file whose writer died. */
START_TEST(test_room_for_questions)
{
	struct post first, stat;
	struct wire_path body = { .path_len = htole32(1) };
	struct mgrc w = { 0 };
	struct mgrc_file f;

	make("f");
	make("g");
	mgrc_open(&w, &rig.addr, 0);
	ck_assert_int_eq(mgrc_open_file(&w, "g", WIRE_O_WRITE, &f), 0);
	mgrc_close(&w, true);
	for (int i = 0; i < RIG_IODS; i++)
		atomic_store(&rig.iod[i].hold, true);
	post_truncate(&c, &first, "f");
	turn_until(&c, held(0) == 1);
	post(&c, &stat, WIRE_GETATTR, &body, sizeof(body), "g");
	ck_assert_int_eq(mgrc_mkdir(&c, "d"), 0);
	ck_assert_int_eq(stat.status, 1);
	ck_assert_uint_eq(held(0), 1);
	for (int i = 0; i < RIG_IODS; i++)
		fakeiod_release(&rig.iod[i]);
	turn_until(&c, !first.status && !stat.status);
	/* more often if the iods took more than RPC_WAIT_BRIEF_MS */
	ck_assert_uint_ge(fakeiod_get(&rig.iod[0], &rig.iod[0].getsizes), 1);
}
END_TEST

enum change { CHMOD, UNLINK, REPLACE, CHANGES };

static void change(enum change what)
{
	if (what == CHMOD)
		chmod_to("f", 0);
	else if (what == UNLINK)
		ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	else
		ck_assert_int_eq(mgrc_rename(&c, "g", "f"), 0);
}

/*
 * An OPEN with O_TRUNC waits for its own truncation, or for one of another client. Meanwhile the
 * name or the permission changes.
 */
START_TEST(test_open_looks_again)
{
	static const int wanted[CHANGES] = { -EACCES, -ENOENT, 0 };
	enum change what = _i % CHANGES;
	bool others = _i >= CHANGES;
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct post opened, other = { 0 };
	uint64_t g;

	make("f");
	g = make("g");
	mgrc_open(&user, &rig.addr, 0);
	atomic_store(&rig.iod[0].hold, true);
	if (others) {
		post_truncate(&c, &other, "f");
		turn_until(&c, held(0) == 1);
	}
	post_open(&user, &opened, "f");
	ck_assert_int_eq(mgrc_stat(&user, "f", NULL), 0);
	turn_until(&user, held(0) == 1);
	ck_assert_int_eq(opened.status, 1);
	change(what);
	fakeiod_release(&rig.iod[0]);
	turn_until(&user, opened.status != 1);
	ck_assert_int_eq(opened.status, wanted[what]);
	if (what == REPLACE) {
		ck_assert_uint_eq(opened.handle, g);
		for (int i = 0; i < RIG_IODS; i++)
			ck_assert_int_eq(fakeiod_size(&rig.iod[i], g), 0);
	}
	turn_until(&c, other.status != 1);
	mgrc_close(&user, true);
}
END_TEST

#define LINKS 39 /* symbolic links in the path */
#define TEXT 1000u /* length of each link, bytes */
#define THREADS 16

/* Makes "l38", which leads to "mark" through 15,000 components. */
static void make_long_path(void)
{
	char text[TEXT + 8] = "", name[8], last[8] = "mark";

	ck_assert_int_eq(mgrc_mkdir(&c, "d"), 0);
	for (size_t i = 0; i < TEXT; i += 5)
		memcpy(text + i, "d/../", 5);
	for (int i = 0; i < LINKS; i++) {
		memcpy(text + TEXT, last, sizeof(last));
		snprintf(name, sizeof(name), "l%d", i);
		ck_assert_int_eq(mgrc_symlink(&c, text, name), 0);
		memcpy(last, name, sizeof(last));
	}
}

/* A request of another user runs before requests of many threads with long paths have ended. */
START_TEST(test_long_paths)
{
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct wire_path path = { .path_len = htole32(3) };
	struct wire_mkdir dir = { .mode = htole32(0755),
				  .path_len = htole32(4) };
	static struct post stat[THREADS], make;

	make_long_path();
	chmod_to("", 0777);
	mgrc_open(&user, &rig.addr, 0);
	ck_assert_int_eq(mgrc_stat(&user, "l38", NULL), -ENOENT);
	ck_assert_int_eq(kill(rig.pid, SIGSTOP), 0);
	for (int i = 0; i < THREADS; i++)
		post(&c, &stat[i], WIRE_GETATTR, &path, sizeof(path), "l38");
	rpc_ctx_progress(c.ctx, 0);
	post(&user, &make, WIRE_MKDIR, &dir, sizeof(dir), "mark");
	rpc_ctx_progress(user.ctx, 0);
	ck_assert_int_eq(kill(rig.pid, SIGCONT), 0);
	turn_until(&user, make.status != 1);
	ck_assert_int_eq(make.status, 0);
	for (int i = 0; i < THREADS; i++) {
		turn_until(&c, stat[i].status != 1);
		ck_assert_int_eq(stat[i].status, 0);
	}
	mgrc_close(&user, true);
}
END_TEST

static int port_of(int fd, int (*get)(int, struct sockaddr *, socklen_t *))
{
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);

	return get(fd, (struct sockaddr *)&sa, &len) ? -1 : ntohs(sa.sin_port);
}

/* Returns the client's port of this session's connection, from the manager's log. */
static int port_of_session(const struct mgrc *who)
{
	char text[64];
	const char *at;

	snprintf(text, sizeof(text), " (test): opens session %016llx",
		 (unsigned long long)who->session);
	ck_assert(rig_says(&rig, text));
	at = strstr(rig.said, text);
	while (at[-1] != ':')
		at--;
	return atoi(at);
}

/* Makes the receive buffer of this port small. */
static void narrow_here(int port)
{
	int size = 4096, found = 0;

	for (int fd = 3; fd < 1024; fd++)
		if (port_of(fd, getpeername) == rig.port &&
		    port_of(fd, getsockname) == port)
			found += !setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size,
					     sizeof(size));
	ck_assert_int_eq(found, 1);
}

/*
 * Makes the send buffer of the manager's connection to this port small. Returns false if this
 * process may not access the descriptors of the manager.
 */
static bool narrow(int port)
{
	int pidfd = (int)syscall(SYS_pidfd_open, rig.pid, 0);
	int size = 4096, found = 0;

	for (int n = 3; n < 256 && !found; n++) {
		int fd = (int)syscall(SYS_pidfd_getfd, pidfd, n, 0);

		if (fd < 0)
			continue;
		found = port_of(fd, getpeername) == port &&
			!setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size,
				    sizeof(size));
		close(fd);
	}
	close(pidfd);
	return found;
}

#define SLOTS 64
#define LISTINGS 24
#define BUFFERS 16 /* of the manager */

static struct wire_readdir listing_of(const struct mgrc *who)
{
	return (struct wire_readdir){
		.mem = { .addr = htole64((uintptr_t)who->arena),
			 .len = htole32(65536),
			 .rkey = htole32(who->mr->rkey) },
	};
}

static void make_big_root(void)
{
	char name[200];

	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "%0190d", i);
		ck_assert_int_eq(mgrc_mkdir(&c, name), 0);
	}
}

/* Opens a session whose connection buffers little data.  Returns false if that is not permitted. */
static bool open_slow(struct mgrc *who)
{
	int port;

	mgrc_open(who, &rig.addr, 0);
	ck_assert_int_eq(mgrc_stat(who, "", NULL), 0);
	port = port_of_session(who);
	narrow_here(port);
	if (narrow(port))
		return true;
	puts("skip: pidfd_getfd() is not permitted");
	return false;
}

/* The manager is stopped until all requests are sent, so the client reads no reply in between. */
static void post_listings(struct mgrc *who, struct post *list, int n)
{
	const struct wire_readdir body = listing_of(who);

	ck_assert_int_eq(kill(rig.pid, SIGSTOP), 0);
	for (int i = 0; i < n; i++) {
		post(who, &list[i], WIRE_READDIR, &body, sizeof(body), NULL);
		rpc_ctx_progress(who->ctx, 0);
	}
	ck_assert_int_eq(kill(rig.pid, SIGCONT), 0);
	/* the users take turns, so after these requests all listings have had a turn */
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(mgrc_stat(&c, "", NULL), 0);
}

static bool is_without_buffer(struct mgrc *who)
{
	struct wire_readdir_rep rep;

	return mgrc_readdir(who, 0, 0, 65536, &rep) == -ETIMEDOUT;
}

/* Other listings of the same user wait for a buffer, but the session still has free slots. */
static void wait_beside_listings(struct mgrc *slow, struct mgrc *who,
				 struct post wait[SLOTS])
{
	static struct post more[SLOTS - LISTINGS];
	const struct wire_readdir body = listing_of(who);

	who->timeout_ms = 1000;
	/* the kernel may have accepted the data of a listing, which has returned its buffer */
	for (int n = 0; !is_without_buffer(who); n++) {
		ck_assert_int_lt(n, SLOTS - LISTINGS);
		post_listings(slow, &more[n], 1);
	}
	ck_assert(rig_says(&rig, "one of the buffers for directories"));
	who->timeout_ms = 20000;
	for (int i = 0; i < SLOTS; i++)
		post(who, &wait[i], WIRE_READDIR, &body, sizeof(body), NULL);
	ck_assert_int_eq(mgrc_stat(who, "", NULL), 0);
	for (int i = 0; i < SLOTS; i++)
		ck_assert_int_eq(wait[i].status, 1);
}

/*
 * If clients of one user (or a session of root) request many listings and read them slowly, they do
 * not get all buffers, and listings of other users continue.
 */
START_TEST(test_buffers)
{
	static struct post list[2][SLOTS], wait[SLOTS];
	const uint32_t uid = _i ? 1000 : 0;
	struct mgrc slow[2] = { { .cred = { .uid = uid, .gid = uid } },
				{ .cred = { .uid = 1001, .gid = 1001 } } };
	struct mgrc same = { .cred = { .uid = uid, .gid = uid } };
	struct wire_readdir_rep rep;

	make_big_root();
	for (int k = 0; k < 2; k++) {
		if (!open_slow(&slow[k]))
			return;
		post_listings(&slow[k], list[k], LISTINGS);
		/*
		 * some requests may have been rejected for the moment, so some buffers may be free
		 */
		if (!uid)
			for (int i = LISTINGS; i < LISTINGS + BUFFERS; i++)
				post_listings(&slow[k], &list[k][i], 1);
		if (!k)
			mgrc_open(&same, &rig.addr, 0);
		if (uid && !k)
			wait_beside_listings(&slow[k], &same, wait);
		/* shorter than the time until a stalled connection ends */
		c.timeout_ms = 5000;
		for (int i = 0; i < 2 * BUFFERS; i++)
			ck_assert_int_eq(mgrc_readdir(&c, 0, 0, 65536, &rep),
					 0);
	}
	/* stalled connections end, and their buffers are free again */
	same.timeout_ms = 40000;
	ck_assert_int_eq(mgrc_readdir(&same, 0, 0, 65536, &rep), 0);
	for (int i = 0; uid && i < SLOTS; i++)
		turn_until(&same, wait[i].status != 1);
	mgrc_close(&same, true);
	for (int k = 0; k < 2; k++)
		mgrc_close(&slow[k], false);
}
END_TEST

static void add_case(Suite *s, const char *name, void (*setup)(void),
		     const TTest *test, int loops)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test, 0, loops);
	suite_add_tcase(s, tc);
}

int main(void)
{
	Suite *s = suite_create("mgr_waits");

	add_case(s, "room", setup_room, test_room, 1);
	add_case(s, "questions", setup_room, test_room_for_questions, 1);
	add_case(s, "open", setup_slots, test_open_looks_again, 2 * CHANGES);
	add_case(s, "paths", setup_slots, test_long_paths, 1);
	add_case(s, "buffers", setup_slots, test_buffers, 2);
	return run_suite(s);
}
