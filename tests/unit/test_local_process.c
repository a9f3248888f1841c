/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_process.c - the local provider and a peer in another process: it is killed, stopped,
 * or not the expected one, or its memory cannot be accessed.
 */
#include <check.h>
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/lingering.h"
#include "tests/unit/rig_check.h"
#include "tests/run_suite.h"

#define LEN 256u
#define RECVS 4u
#define ALL (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)
#define PATIENCE_MS 20000u

static struct local_rig rig;
static struct tp_mr *mr;
static uint8_t buf[RECVS * LEN + 4096];

#define until(cond) rig_until(&rig, mr, LEN, RECVS, PATIENCE_MS, cond)

static void setup(void)
{
	rig_start(&rig, buf, RECVS * LEN, ALL, &mr);
}

static void teardown(void)
{
	size_t i;

	for (i = RECVS * LEN; i < sizeof(buf); i++)
		ck_assert_uint_eq(buf[i], 0);
	rig_end(&rig, mr);
}

/* Number of mappings of the provider's shared memory. */
static unsigned int maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned int n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "pvfs-local") != NULL;
	fclose(f);
	return n;
}

struct offer {
	uint64_t addr;
	uint32_t rkey;
};

static int as_nobody(void)
{
	const gid_t group = 65534;

	if (geteuid() == 0 &&
	    (setgroups(0, NULL) || setresgid(group, group, group) ||
	     setresuid(65534, 65534, 65534)))
		return -errno;
	/* a change of the user has made the process inaccessible */
	return prctl(PR_SET_DUMPABLE, 1) ? -errno : 0;
}

/* Connects, tells where its memory is, and serves until it is killed. */
static int client(const struct addr *addr, bool dumpable)
{
	static uint8_t mem[1 << 20];
	struct tp_sge sge = { mem, sizeof(struct offer), 0 };
	struct tp_send_wr wr = { .opcode = TP_SEND, .sgl = &sge, .nsge = 1 };
	struct tp_ep_attr attr = { .group = true };
	struct offer offer;
	struct tp_event ev;
	struct tp_dev *dev;
	struct tp_wc wc;
	struct tp_cq *cq;
	struct tp_ep *ep;
	struct tp_mr *m;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60);
	prctl(PR_SET_DUMPABLE, dumpable);
	memset(mem, 0x77, sizeof(mem));
	if (tp_dev_open("local", NULL, &dev) || tp_cq_open(dev, 512, &cq) ||
	    tp_mr_reg(dev, mem, sizeof(mem), ALL, &m) ||
	    tp_ep_open(cq, &attr, &ep) ||
	    tp_connect(ep, addr, NULL, 0, CLOCK_NEVER))
		return 2;
	do {
		tp_cq_wait(cq, CLOCK_NEVER);
		tp_cq_poll(cq, &wc, 1);
	} while (!tp_cq_event(cq, &ev));
	offer = (struct offer){ (uintptr_t)mem, m->rkey };
	sge = (struct tp_sge){ &offer, sizeof(offer), TP_LKEY_NONE };
	if (ev.type != TP_EV_ESTABLISHED || tp_post_send(ep, &wr))
		return 3;
	for (;;) {
		tp_cq_wait(cq, CLOCK_NEVER);
		tp_cq_poll(cq, &wc, 1);
	}
}

static pid_t fork_client(bool dumpable, struct offer *offer)
{
	unsigned int before = rig.nwc;
	pid_t pid = fork();

	if (pid == 0)
		_exit(client(&rig.addr, dumpable));
	ck_assert_int_gt(pid, 0);
	until(rig.nwc > before);
	ck_assert_int_eq(rig.wc.status, 0);
	memcpy(offer, buf, sizeof(*offer));
	return pid;
}

static void reap(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static struct tp_send_wr transfer(const struct offer *offer,
				  const struct tp_sge *sge, enum tp_opcode op)
{
	return (struct tp_send_wr){ .opcode = op,
				    .flags = TP_SIGNALED,
				    .sgl = sge,
				    .nsge = 1,
				    .remote_addr = offer->addr,
				    .rkey = offer->rkey };
}

/* The peer is killed during all kinds of requests: nothing of it remains here. */
START_TEST(killed)
{
	struct tp_mr *big;
	uint8_t *mem = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tp_sge sge = { mem, 1 << 20, 0 };
	unsigned int fds0, maps0, i, j;
	struct offer offer;

	ck_assert_int_eq(tp_mr_reg(rig.dev, mem, 1 << 20, ALL, &big), 0);
	sge.lkey = big->lkey;
	rig_works(&rig, mr, LEN, RECVS);
	fds0 = count_fds();
	maps0 = maps();
	for (i = 0; i < 40; i++) {
		pid_t pid = fork_client(true, &offer);
		struct tp_send_wr wr = transfer(&offer, &sge,
						i % 2 ? TP_READ : TP_WRITE);

		for (j = 0; j < 20; j++)
			ck_assert_int_eq(tp_post_send(rig.ep, &wr), 0);
		for (j = 0; j < i % 8; j++)
			local_rig_turn(&rig, mr, LEN, RECVS);
		reap(pid);
		until(rig.gone);
		rig_forget_ep(&rig);
	}
	/* another thread closes a wake-up socket */
	until(count_fds() <= fds0);
	ck_assert_uint_eq(maps(), maps0);
	rig_works(&rig, mr, LEN, RECVS);
	tp_mr_dereg(big);
	munmap(mem, 1 << 20);
}
END_TEST

/* A client of another test that happens to use our port has no effect. */
START_TEST(stranger)
{
	struct raw raw;
	struct tp_ep *ep;
	int status = -1;
	pid_t pid;

	ck_assert_int_eq(raw_open(&rig, &raw, mr, LEN, RECVS), 0);
	ep = rig.ep;
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		_exit(client(&rig.addr, true));
	}
	until(waitpid(pid, &status, WNOHANG) == pid);
	/* exit status of a client that was not connected */
	ck_assert_int_eq(WEXITSTATUS(status), 3);
	ck_assert_ptr_eq(rig.ep, ep);
	ck_assert_int_eq(rig.id.pid, getpid());
	raw_close(&raw);
	until(rig.gone);
	rig_forget_ep(&rig);
}
END_TEST

/* Sends as much as the ring holds, and as may wait for it; nothing is read. */
static void fill_ring(struct tp_ep *ep)
{
	struct tp_sge sge = { buf, RECVS * LEN, mr->lkey };
	struct tp_send_wr wr = { .opcode = TP_SEND, .sgl = &sge, .nsge = 1 };
	const struct local_ep *to = container_of(ep, struct local_ep, ep);

	until(to->sq.stuck || tp_post_send(ep, &wr));
	ck_assert(to->sq.stuck);
	while (tp_post_send(ep, &wr) == 0)
		;
}

static void fill_wakeup_socket(struct tp_ep *ep)
{
	int i;

	for (i = 0; i < 2000; i++)
		local_group_wakeup_send(
			&container_of(ep, struct local_ep, ep)->wakeup);
}

/* The client is stopped with everything full: other clients are served, and the server sleeps. */
START_TEST(stopped)
{
	struct offer offer;
	pid_t pid = fork_client(true, &offer);
	struct tp_ep *ep = rig.ep;
	int i;

	rig.ep = NULL;
	kill(pid, SIGSTOP);
	ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
	fill_ring(ep);
	fill_wakeup_socket(ep);
	for (i = 0; i < 20; i++) {
		rig_works(&rig, mr, LEN, RECVS);
		until(tp_cq_wait(rig.cq, clock_now()) == -ETIMEDOUT);
	}
	rig.ep = ep;
	reap(pid);
	until(rig.gone);
	rig_forget_ep(&rig);
}
END_TEST

/* Runs as a plain user.  Returns 0 or a line number; see unreachable. */
static int read_from(bool dumpable, bool want_reach)
{
	struct tp_sge sge;
	struct tp_send_wr wr;
	struct offer offer;
	enum local_reach reach;
	unsigned int before;
	pid_t pid;

	pid = fork_client(dumpable, &offer);
	sge = (struct tp_sge){ buf + LEN, 3 * LEN, mr->lkey };
	wr = transfer(&offer, &sge, TP_READ);
	memset(buf, 0, RECVS * LEN);
	before = rig.nwc;
	ck_assert_int_eq(tp_post_send(rig.ep, &wr), 0);
	until(rig.nwc > before);
	ck_assert_int_eq(rig.wc.status, 0);
	ck_assert_uint_eq(buf[LEN], 0x77);
	ck_assert_uint_eq(buf[4 * LEN - 1], 0x77);
	reach = container_of(rig.ep, struct local_ep, ep)->reach;
	reap(pid);
	until(rig.gone);
	rig_forget_ep(&rig);
	if (!want_reach && reach == LOCAL_REACH_VM)
		return __LINE__;
	return 0;
}

/*
 * If the kernel denies access to a client's memory, its data uses the ring.  Root could access it,
 * so the test changes its user.
 */
START_TEST(unreachable)
{
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		local_rig_close(&rig);
		if (as_nobody())
			_exit(4);
		setup();
		if (read_from(true, true) || read_from(false, false))
			_exit(5);
		teardown();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("local_process");
	TCase *tc = tcase_create("peer");

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, stranger);
	tcase_add_test(tc, stopped);
	tcase_add_test(tc, killed);
	tcase_add_test(tc, unreachable);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
