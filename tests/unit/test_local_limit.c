/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_limit.c - a thousand clients in one process, more than the server has descriptors for.
 * Connected clients stay, and the others retry until some leave.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/process_limits.h"
#include "tests/unit/lingering.h"
#include "tests/unit/local_rig.h"
#include "tests/run_suite.h"
#include "tests/stranger.h"

#define CLIENTS 1000u /* have room */
#define MORE 100u
#define ALL (CLIENTS + MORE)
#define EACH 4u /* descriptors for each connected client */
#define LEN 16u
#define PATIENCE_MS 60000u

static const struct tp_ep_attr small = { .max_send_wr = 4,
					 .max_recv_wr = 4,
					 .group = true };

/* The memory through which the two processes communicate. */
enum todo { CONNECT, SPEAK, SOME_LEAVE };
static struct shared {
	_Atomic unsigned int todo, up, failed;
} * shared;

/* ---- the clients, in their own process ---- */

struct clients {
	struct tp_cq *cq;
	const struct addr *addr;
	struct tp_ep *ep[ALL];
	bool up[ALL];
};

static int begin(struct clients *c, uintptr_t i)
{
	struct tp_ep_attr attr = small;
	int rc;

	attr.context = (void *)i;
	rc = tp_ep_open(c->cq, &attr, &c->ep[i]);
	return rc ? rc : tp_connect(c->ep[i], c->addr, NULL, 0, CLOCK_NEVER);
}

/* A client for which there are no descriptors retries; no connected client is disconnected. */
static void met(struct clients *c, const struct tp_event *ev)
{
	uintptr_t i = (uintptr_t)ev->ep->context;
	bool was_up = c->up[i];

	c->up[i] = ev->type == TP_EV_ESTABLISHED;
	if (c->up[i]) {
		atomic_fetch_add(&shared->up, 1);
		return;
	}
	tp_ep_close(ev->ep);
	if (was_up || begin(c, i))
		atomic_fetch_add(&shared->failed, 1);
}

static void look(struct clients *c)
{
	struct tp_event ev;
	struct tp_wc wc;

	tp_cq_wait(c->cq, clock_after_ms(10));
	while (tp_cq_poll(c->cq, &wc, 1) == 1)
		;
	while (tp_cq_event(c->cq, &ev) == 1)
		met(c, &ev);
}

static void speak(struct clients *c)
{
	struct tp_sge sge = { "here", 4, TP_LKEY_NONE };
	struct tp_send_wr wr = { .opcode = TP_SEND, .sgl = &sge, .nsge = 1 };
	unsigned int i;

	for (i = 0; i < ALL; i++)
		if (c->up[i] && tp_post_send(c->ep[i], &wr))
			atomic_fetch_add(&shared->failed, 1);
}

static void some_leave(struct clients *c)
{
	unsigned int i, left = 0;

	for (i = 0; i < ALL && left < MORE; i++) {
		if (!c->up[i])
			continue;
		tp_ep_close(c->ep[i]);
		c->up[i] = false;
		left++;
	}
}

static int be_clients(const struct addr *addr)
{
	static struct clients c;
	unsigned int done = CONNECT;
	struct tp_dev *dev;
	uintptr_t i;

	c.addr = addr;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (tp_dev_open("local", NULL, &dev) ||
	    tp_cq_open(dev, 16 * ALL, &c.cq))
		return 2;
	for (i = 0; i < ALL; i++)
		if (begin(&c, i))
			return 3;
	for (;;) {
		look(&c);
		if (atomic_load(&shared->todo) == done)
			continue;
		done = atomic_load(&shared->todo);
		(done == SPEAK ? speak : some_leave)(&c);
	}
}

/* ---- the server ---- */

static char text[1 << 16];

static void keep(void *arg, enum log_level level, const char *msg)
{
	if (strlen(text) + strlen(msg) + 2 < sizeof(text))
		strcat(strcat(text, msg), "\n");
}

static struct log logger = { LOG_LV_WARN, keep, NULL };
static struct tp_dev *dev;
static struct tp_cq *cq;
static struct tp_listener *listener;
static struct tp_mr *mr;
static uint8_t mem[LEN];
static struct tp_ep *ep[ALL];
static unsigned int in, gone, heard, refused;

static void let_in(struct tp_conn_req *req)
{
	struct tp_recv_wr wr = { 0, { mem, LEN, mr->lkey } };
	unsigned int i;

	if (is_stranger(req) || tp_req_scarce(req)) {
		refused += !is_stranger(req);
		tp_reject(req, NULL, 0);
		return;
	}
	for (i = 0; i < ALL && ep[i]; i++)
		;
	ck_assert_uint_lt(i, ALL);
	ck_assert_int_eq(tp_ep_open(cq, &small, &ep[i]), 0);
	ck_assert_int_eq(tp_post_recv(ep[i], &wr), 0);
	ck_assert_int_eq(tp_accept(ep[i], req, NULL, 0), 0);
	in++;
}

static void has_left(struct tp_ep *who)
{
	unsigned int i;

	for (i = 0; i < ALL; i++) {
		if (ep[i] != who)
			continue;
		tp_ep_close(who);
		ep[i] = NULL;
		gone++;
	}
}

static void look_once(void)
{
	struct tp_event ev;
	struct tp_wc wc;

	while (tp_cq_poll(cq, &wc, 1) == 1)
		heard += wc.status == 0;
	while (tp_cq_event(cq, &ev) == 1) {
		if (ev.type == TP_EV_CONNECT_REQUEST)
			let_in(ev.req);
		else if (ev.type == TP_EV_DISCONNECTED)
			has_left(ev.ep);
	}
}

static void turn(void)
{
	look_once();
	tp_cq_wait(cq, clock_after_ms(1));
}

static void check_time(uint64_t stop, const char *cond)
{
	ck_assert_msg(clock_now() < stop,
		      "never: %s (%u in, %u gone, %u up, %u failed, %u heard)\n"
		      "%.500s",
		      cond, in, gone, shared->up, shared->failed, heard, text);
}

#define until(cond)                                                            \
	do {                                                                   \
		uint64_t stop_ = clock_after_ms(PATIENCE_MS);                  \
		while (!(cond)) {                                              \
			turn();                                                \
			check_time(stop_, #cond);                              \
		}                                                              \
	} while (0)

static void serve(struct addr *addr)
{
	struct tp_dev_attr attr = { .log = &logger };

	*addr = (struct addr){ .scheme = "local", .host = "127.0.0.1" };
	ck_assert_int_eq(tp_dev_open("local", &attr, &dev), 0);
	ck_assert_int_eq(tp_cq_open(dev, 16 * ALL, &cq), 0);
	ck_assert_int_eq(tp_listen(cq, addr, 0, &listener), 0);
	tp_listener_addr(listener, addr);
	ck_assert_int_eq(tp_mr_reg(dev, mem, LEN, TP_LOCAL_WRITE, &mr), 0);
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < ALL; i++)
		if (ep[i])
			tp_ep_close(ep[i]);
	tp_mr_dereg(mr);
	tp_unlisten(listener);
	tp_cq_close(cq);
	tp_dev_close(dev);
}

/* Sets a limit for CLIENTS, plus the reserve of at most an eighth. */
static struct rlimit tighten(void)
{
	struct rlimit old, tight;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	tight = old;
	tight.rlim_cur = (count_fds() + EACH * CLIENTS) * 8 / 7;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
	return old;
}

/* Returns true when no more clients are accepted, and retries are rejected. */
static bool is_full(void)
{
	return refused >= 2 * MORE && atomic_load(&shared->up) == in;
}

/* No client is disconnected or half connected; the reserve is not used for them. */
static void full_house(void)
{
	int fd = open("/dev/null", O_RDONLY);
	unsigned int n = in;

	ck_assert_uint_lt(n, ALL);
	ck_assert_uint_gt(n, CLIENTS - MORE);
	ck_assert_int_ge(fd, 0); /* a file of another user of descriptors */
	ck_assert(!descriptors_reserve_gone(fd, TP_SPARE));
	close(fd);
	ck_assert_ptr_null(strstr(text, "open files limit"));
	atomic_store(&shared->todo, SPEAK);
	/*
	 * connections in progress needed less than was reserved, so some more may be accepted since
	 */
	until(heard >= n);
	ck_assert_uint_eq(gone, 0);
}

START_TEST(thousand)
{
	struct addr addr;
	struct rlimit old;
	pid_t pid;

	in = gone = refused = 0;
	serve(&addr);
	pid = fork();
	if (pid == 0)
		_exit(be_clients(&addr));
	old = tighten();
	until(is_full());
	full_house();
	atomic_store(&shared->todo, SOME_LEAVE);
	until(in == ALL && gone == MORE);
	until(atomic_load(&shared->up) == ALL);
	ck_assert_uint_eq(atomic_load(&shared->failed), 0);
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	until(gone == ALL);
	setrlimit(RLIMIT_NOFILE, &old);
	end();
}
END_TEST

/* More clients connect at once than may be without a hello: their hellos have arrived. */
START_TEST(at_once)
{
	enum { N = SOCK_HALF_OPEN + 72 };
	struct local_rig rig = { 0 };
	int raw[N], i;

	in = gone = 0;
	serve(&rig.addr);
	for (i = 0; i < N; i++) {
		raw[i] = raw_connect(&rig);
		ck_assert_int_eq(local_hello_send(raw[i], LOCAL_CONNECT, NULL,
						  0, NULL),
				 0);
		if (i == 0) /* an event in addition to the sockets */
			until(in == 1);
	}
	for (i = 0; i < 10000 && in < N; i++)
		look_once();
	ck_assert_uint_eq(in, N);
	for (i = 0; i < N; i++)
		close(raw[i]);
	until(gone == N);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("local_limit");
	TCase *tc = tcase_create("limit");
	struct rlimit lim;

	getrlimit(RLIMIT_NOFILE, &lim);
	if (lim.rlim_cur < 4096) {
		puts("skip: needs 4096 descriptors (ulimit -n)");
		return 77;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	tcase_set_timeout(tc, 0);
	tcase_add_test(tc, at_once);
	tcase_add_test(tc, thousand);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
