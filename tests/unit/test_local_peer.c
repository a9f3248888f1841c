/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_peer.c - the local provider and peers that lie, keep silent, are
 * killed, or cannot be reached into; who they are; and deregistration against
 * their copies.
 */
#include <check.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lingering.h"
#include "rig_check.h"
#include "run_suite.h"

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
	memset(buf, 0, sizeof(buf));
	ck_assert_int_eq(local_rig_open(&rig), 0);
	ck_assert_int_eq(tp_mr_reg(rig.dev, buf, RECVS * LEN, ALL, &mr), 0);
}

static void teardown(void)
{
	size_t i;

	for (i = RECVS * LEN; i < sizeof(buf); i++)
		ck_assert_uint_eq(buf[i], 0);
	rig_end(&rig, mr);
}

/* Mappings of the provider's shared memory. */
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

static struct raw open_raw(void)
{
	struct raw raw;

	ck_assert_int_eq(raw_open(&rig, &raw, mr, LEN, RECVS), 0);
	return raw;
}

static void forget_ep(void)
{
	tp_ep_close(rig.ep);
	rig.ep = NULL;
}

/* A peer that behaves is served. */
static void still_works(void)
{
	struct local_head head = { .size = 8, .op = LOCAL_OP_SEND, .total = 8 };
	struct raw raw = open_raw();
	unsigned int before = rig.nwc;

	raw_put(&raw, &head, "12345678");
	until(rig.nwc > before);
	ck_assert_int_eq(rig.wc.status, 0);
	ck_assert_mem_eq(buf, "12345678", 8);
	raw_close(&raw);
	until(rig.gone);
	ck_assert_int_eq(rig.last.status, 0);
	forget_ep();
}

START_TEST(identity)
{
	struct tp_identity id = { 0 };
	struct raw raw = open_raw();

	ck_assert_int_eq(rig.id.pid, getpid());
	ck_assert_uint_eq(rig.id.uid, geteuid());
	ck_assert_uint_eq(rig.id.gid, getegid());
	ck_assert_int_eq(tp_ep_identity(rig.ep, &id), 0);
	ck_assert_int_eq(id.pid, getpid());
	raw_close(&raw);
	until(rig.gone);
	forget_ep();
}
END_TEST

/* ---- wrong records ---- */

static const struct {
	struct local_head head;
	int status;
} wrong[] = {
	{ { .op = 0 }, -EPROTO },
	{ { .op = LOCAL_OP_END }, -EPROTO },
	{ { .op = 0xffff }, -EPROTO },
	{ { .op = LOCAL_OP_MORE, .size = 8, .total = 8 }, -EPROTO },
	{ { .op = LOCAL_OP_SEND, .size = 8, .total = 4 }, -EPROTO },
	{ { .op = LOCAL_OP_SEND, .size = 0, .total = 4 }, -EPROTO },
	{ { .op = LOCAL_OP_SEND, .size = LEN, .total = LEN + 1 }, -EMSGSIZE },
	{ { .op = LOCAL_OP_SEND, .size = LEN, .total = UINT32_MAX },
	  -EMSGSIZE },
	{ { .op = LOCAL_OP_SEND, .size = UINT32_MAX, .total = 9 }, -EPROTO },
	{ { .op = LOCAL_OP_WRITE, .size = 8, .total = 8, .rkey = 77 },
	  -EACCES },
	{ { .op = LOCAL_OP_READ, .total = 8, .rkey = 77 }, -EACCES },
	{ { .op = LOCAL_OP_READ, .total = UINT32_MAX }, -EPROTO },
	{ { .op = LOCAL_OP_READ, .total = 0 }, -EPROTO },
	{ { .op = LOCAL_OP_READ_DATA, .size = 8, .total = 8 }, -EPROTO },
	{ { .op = LOCAL_OP_OLD, .size = 8, .total = 8 }, -EPROTO },
	{ { .op = LOCAL_OP_FETCH_ADD, .size = 16, .total = 8, .rkey = 77 },
	  -EACCES },
	{ { .op = LOCAL_OP_FETCH_ADD, .size = 8, .total = 8 }, -EPROTO },
	{ { .op = LOCAL_OP_CMP_SWAP, .size = 16, .total = 8, .addr = 4 },
	  -EPROTO },
	{ { .op = LOCAL_OP_IMM, .total = UINT32_MAX }, -EPROTO },
};
#define WRONG ((int)(sizeof(wrong) / sizeof(wrong[0])))

START_TEST(wrong_record)
{
	struct raw raw = open_raw();
	static const uint8_t stuff[LOCAL_PIECE];

	raw_put(&raw, &wrong[_i].head, stuff);
	until(rig.gone);
	ck_assert_int_eq(rig.last.status, wrong[_i].status);
	ck_assert_int_eq(atomic_load(&raw.in.peer->status), wrong[_i].status);
	raw_close(&raw);
	forget_ep();
	still_works();
}
END_TEST

/* READs without end: as many answers are owed as was agreed, not more. */
START_TEST(flood_of_reads)
{
	struct local_head head = { .op = LOCAL_OP_READ,
				   .total = LEN * RECVS,
				   .addr = (uintptr_t)buf,
				   .rkey = mr->rkey };
	struct raw raw = open_raw();
	int i;

	for (i = 0; i < 1000; i++) {
		head.id = (uint32_t)i + 1;
		raw_put(&raw, &head, NULL);
	}
	until(rig.gone);
	ck_assert_int_eq(rig.last.status, -EPROTO);
	raw_close(&raw);
	forget_ep();
	still_works();
}
END_TEST

/* ---- the handshake ---- */

START_TEST(bad_hello)
{
	struct local_hello hello = { 0 };
	struct local_fds give = LOCAL_NO_FDS;
	int raw = raw_connect(&rig);
	unsigned int before = count_fds();
	char c;

	switch (_i) {
	case 0: /* silence, then the end */
		break;
	case 1:
		ck_assert_int_eq(send(raw, "x", 1, 0), 1);
		break;
	case 2:
		ck_assert_int_gt(send(raw, &hello, sizeof(hello), 0), 0);
		break;
	case 3: /* descriptors that nobody wants */
		memset(&give, 0, sizeof(give));
		ck_assert_int_eq(
			local_hello_send(raw, LOCAL_ACCEPT, NULL, 0, &give), 0);
		break;
	case 4: /* half a group */
		give.fd[LOCAL_FD_GONG] = 0;
		ck_assert_int_eq(local_hello_send(raw, LOCAL_CONNECT, NULL, 0,
						  &give),
				 0);
		break;
	case 5: /* more than comes */
		hello = (struct local_hello){ .magic = 0x4c534650u,
					      .version = 3,
					      .type = LOCAL_CONNECT,
					      .has = UINT32_MAX };
		ck_assert_int_gt(send(raw, &hello, sizeof(hello), 0), 0);
		break;
	case 6: /* a group that is none */
		give.fd[LOCAL_FD_GONG] = give.fd[LOCAL_FD_PAGE] = 0;
		/* fall through */
	default: /* a table that is none: served all the same */
		give.fd[LOCAL_FD_TABLE] = 0;
		ck_assert_int_eq(local_hello_send(raw, LOCAL_CONNECT, NULL, 0,
						  &give),
				 0);
		until(rig.ep);
		close(raw);
		until(rig.gone);
		forget_ep();
		still_works();
		until(count_fds() < before);
		return;
	}
	shutdown(raw, SHUT_WR);
	until(recv(raw, &c, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN);
	until(count_fds() <= before);
	close(raw);
	still_works();
}
END_TEST

/* ---- a peer that is another process ---- */

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
	/* a change of user made the process one that nobody may look into */
	return prctl(PR_SET_DUMPABLE, 1) ? -errno : 0;
}

/* Connects, tells where its memory is, serves until it is killed. */
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

/* Killed in the middle of everything: nothing of it stays with us. */
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
	still_works();
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
		forget_ep();
	}
	until(count_fds() <= fds0); /* a gong is closed by another thread */
	ck_assert_uint_eq(maps(), maps0);
	still_works();
	tp_mr_dereg(big);
	munmap(mem, 1 << 20);
}
END_TEST

/* A client of another test, which has our port by chance, disturbs nothing. */
START_TEST(stranger)
{
	struct raw raw = open_raw();
	struct tp_ep *ep = rig.ep;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		setpgid(0, 0);
		_exit(client(&rig.addr, true));
	}
	until(waitpid(pid, &status, WNOHANG) == pid);
	ck_assert_int_eq(WEXITSTATUS(status), 3); /* not established */
	ck_assert_ptr_eq(rig.ep, ep);
	ck_assert_int_eq(rig.id.pid, getpid());
	raw_close(&raw);
	until(rig.gone);
	forget_ep();
}
END_TEST

/* As much as the ring takes, and as may wait for it; nothing is taken. */
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

static void fill_gong(struct tp_ep *ep)
{
	int i;

	for (i = 0; i < 2000; i++)
		local_gong_strike(&container_of(ep, struct local_ep, ep)->gong);
}

/* A client that stands still, with all full: others are served, and we sleep. */
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
	fill_gong(ep);
	for (i = 0; i < 20; i++) {
		still_works();
		until(tp_cq_wait(rig.cq, clock_now()) == -ETIMEDOUT);
	}
	rig.ep = ep;
	reap(pid);
	until(rig.gone);
	forget_ep();
}
END_TEST

/* As an ordinary user: 0 or a line number; see unreachable. */
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
	forget_ep();
	if (!want_reach && reach == LOCAL_REACH_VM)
		return __LINE__;
	return 0;
}

/*
 * A client whose memory the kernel keeps closed is served through the ring.
 * Root could look into any: be somebody else.
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

/* ---- deregistration against copies under way ---- */

enum { PIECE = 1 << 20 };

struct pusher {
	struct tp_dev *dev;
	struct tp_cq *cq;
	struct tp_ep *ep;
	struct tp_mr *mr;
	uint8_t *mem;
	struct offer to;
	atomic_bool stop;
	unsigned int done;
};

/* Writes to the same place until it is refused. */
static void *push(void *arg)
{
	struct pusher *p = arg;
	struct tp_sge sge = { p->mem, PIECE, p->mr->lkey };
	struct tp_send_wr wr = transfer(&p->to, &sge, TP_WRITE);
	struct tp_wc wc = { 0 };

	while (!atomic_load(&p->stop) && wc.status == 0) {
		if (tp_post_send(p->ep, &wr))
			break;
		while (!tp_cq_poll(p->cq, &wc, 1))
			tp_cq_wait(p->cq, CLOCK_NEVER);
		p->done += wc.status == 0;
	}
	return NULL;
}

static void pusher_open(struct pusher *p)
{
	struct tp_event ev;

	memset(p, 0, sizeof(*p));
	p->mem = malloc(PIECE);
	memset(p->mem, 0xff, PIECE);
	ck_assert_int_eq(tp_dev_open("local", NULL, &p->dev), 0);
	ck_assert_int_eq(tp_cq_open(p->dev, 512, &p->cq), 0);
	ck_assert_int_eq(tp_mr_reg(p->dev, p->mem, PIECE, 0, &p->mr), 0);
	ck_assert_int_eq(tp_ep_open(p->cq, NULL, &p->ep), 0);
	ck_assert_int_eq(tp_connect(p->ep, &rig.addr, NULL, 0, CLOCK_NEVER), 0);
	until(tp_cq_poll(p->cq, &(struct tp_wc){ 0 }, 1) == 0 &&
	      tp_cq_event(p->cq, &ev) == 1);
	ck_assert_int_eq(ev.type, TP_EV_ESTABLISHED);
}

static void pusher_close(struct pusher *p)
{
	tp_ep_close(p->ep);
	tp_mr_dereg(p->mr);
	tp_cq_close(p->cq);
	tp_dev_close(p->dev);
	free(p->mem);
}

static void dereg_round(int round)
{
	static uint8_t target[PIECE];
	struct pusher p;
	struct tp_mr *there;
	pthread_t thread;
	int i;

	pusher_open(&p);
	ck_assert_int_eq(
		tp_mr_reg(rig.dev, target, PIECE, TP_REMOTE_WRITE, &there), 0);
	p.to = (struct offer){ (uintptr_t)target, there->rkey };
	ck_assert_int_eq(pthread_create(&thread, NULL, push, &p), 0);
	for (i = 0; i < round * 3; i++)
		local_rig_turn(&rig, mr, LEN, 0);
	tp_mr_dereg(there);
	memset(target, 0, PIECE);
	/* the next try finds out */
	until(rig.gone);
	pthread_join(thread, NULL);
	for (i = 0; i < PIECE && target[i] == 0; i++)
		;
	ck_assert_int_eq(i, PIECE);
	ck_assert_int_eq(rig.last.status, -EACCES);
	forget_ep();
	pusher_close(&p);
}

START_TEST(dereg_under_copies)
{
	int i;

	for (i = 0; i < 30; i++)
		dereg_round(i);
}
END_TEST

/* A peer that stands still inside is not waited for without end. */
START_TEST(dereg_is_bounded)
{
	static uint8_t mem[64];
	struct raw raw = open_raw();
	uint64_t start = clock_now();
	struct tp_mr *m;

	local_dev(rig.dev)->dead_peer_ms = 100;
	ck_assert_int_eq(tp_mr_reg(rig.dev, mem, 64, ALL, &m), 0);
	atomic_store(&raw.out.me->busy, 1);
	tp_mr_dereg(m);
	ck_assert_uint_ge(clock_now() - start, 100 * CLOCK_NS_PER_MS);
	/* nor for one that has left */
	local_dev(rig.dev)->dead_peer_ms = 1000 * PATIENCE_MS;
	ck_assert_int_eq(tp_mr_reg(rig.dev, mem, 64, ALL, &m), 0);
	raw_close(&raw);
	tp_mr_dereg(m);
	until(rig.gone);
	forget_ep();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("local_peer");
	TCase *tc = tcase_create("peer");

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, identity);
	tcase_add_loop_test(tc, wrong_record, 0, WRONG);
	tcase_add_test(tc, flood_of_reads);
	tcase_add_loop_test(tc, bad_hello, 0, 8);
	tcase_add_test(tc, stranger);
	tcase_add_test(tc, stopped);
	tcase_add_test(tc, killed);
	tcase_add_test(tc, unreachable);
	tcase_add_test(tc, dereg_under_copies);
	tcase_add_test(tc, dereg_is_bounded);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
