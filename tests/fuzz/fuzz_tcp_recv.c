/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_tcp_recv.c - the receive state machine of the tcp provider, through a socket pair.  The
 * input has the requests that are posted, the size of the chunks, and the bytes that the peer
 * sends.  Key and address of the target memory are fixed, so that an input has the same effect in
 * every run.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "common/transport/tcp/tcp.h"
#include "common/util/crc32c.h"

#define TARGET ((uint8_t *)0x200000000000)
#define KEY 0x00010000u
#define PAGE 4096u
/* number of bytes at the start of the target that the peer may read */
#define READABLE 1024u
#define RECVS 3u
#define READ_LEN 100u
#define STUCK_MAX 1000u /* turns in a row without progress */

/* Bits of the first byte of an input: the requests that are posted. */
#define IN_RECVS 0x03u
#define IN_READ 0x04u
#define IN_ATOMIC 0x08u
#define IN_HELLO 0x10u
#define IN_CHECKS 0x20u

static struct tp_dev *dev;
static struct tp_cq *cq;
static struct tp_mr *target, *local;
static uint8_t own[PAGE];

/* Gives the first memory slot the key that the inputs use. */
static void fix_key(void)
{
	struct tcp_mr *mr = container_of(target, struct tcp_mr, mr);

	FUZZ_SURE((target->rkey & 0xffff) == (KEY & 0xffff));
	target->rkey = target->lkey = KEY;
	atomic_store(&mr->key, KEY);
}

static void open_once(void)
{
	const unsigned int all = TP_REMOTE_READ | TP_REMOTE_WRITE |
				 TP_REMOTE_ATOMIC;

	if (dev)
		return;
	FUZZ_SURE(mmap(TARGET, PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		       0) == TARGET);
	FUZZ_SURE(tp_dev_open("tcp", NULL, &dev) == 0);
	FUZZ_SURE(tp_cq_open(dev, 1024, &cq) == 0);
	FUZZ_SURE(tp_mr_reg(dev, TARGET, READABLE, all, &target) == 0);
	FUZZ_SURE(tp_mr_reg(dev, own, sizeof(own), TP_LOCAL_WRITE, &local) ==
		  0);
	fix_key();
}

static struct tcp_ep *open_ep(int fd, enum tcp_state state)
{
	struct tp_ep_attr attr = { .max_send_wr = 8, .max_recv_wr = 8 };
	struct tcp_ep *ep;
	struct tp_ep *base;

	FUZZ_SURE(tp_ep_open(cq, &attr, &base) == 0);
	ep = container_of(base, struct tcp_ep, ep);
	ep->state = state;
	FUZZ_SURE(tcp_ep_attach(ep, fd, EPOLLIN | EPOLLRDHUP) == 0);
	return ep;
}

static void post_send(struct tcp_ep *ep, enum tp_opcode op, uint32_t len)
{
	struct tp_sge sge = { own, len, local->lkey };
	struct tp_send_wr wr = {
		.opcode = op, .flags = TP_SIGNALED, .sgl = &sge, .nsge = 1
	};

	FUZZ_SURE(tp_post_send(&ep->ep, &wr) == 0);
}

static void post_all(struct tcp_ep *ep, uint8_t what)
{
	unsigned int i;

	for (i = 0; i < (what & IN_RECVS); i++) {
		struct tp_recv_wr wr = {
			.sge = { own + 1024 + 512 * i, 512, local->lkey },
		};

		FUZZ_SURE(tp_post_recv(&ep->ep, &wr) == 0);
	}
	if (ep->state != TCP_EP_UP)
		return;
	if (what & IN_READ)
		post_send(ep, TP_READ, READ_LEN);
	if (what & IN_ATOMIC)
		post_send(ep, TP_FETCH_ADD, 8);
}

/* Polls the endpoint, counts the completions, and checks that they are possible. */
static void turn(unsigned int *done, bool *gone)
{
	struct tp_event ev;
	struct tp_wc wc[8];
	int n = tp_cq_poll(cq, wc, 8), i;

	for (i = 0; i < n; i++) {
		FUZZ_SURE(wc[i].status <= 0);
		FUZZ_SURE(wc[i].opcode <= TP_RECV_IMM);
		FUZZ_SURE(wc[i].opcode != TP_RECV || wc[i].byte_len <= 512);
	}
	*done += (unsigned int)n;
	while (tp_cq_event(cq, &ev))
		*gone |= ev.type != TP_EV_ESTABLISHED;
}

static void drain(int fd)
{
	char skip[4096];

	while (recv(fd, skip, sizeof(skip), MSG_DONTWAIT) > 0)
		;
}

/*
 * Whether the endpoint reads no more data until a receive is posted, or until this end seals, too.
 */
static bool paused(const struct tcp_ep *ep)
{
	return ep->rq.paused || (ep->rx.frame.op == TCP_OP_SEALED && !ep->seal);
}

/*
 * Sends the data in steps.  Returns early when the connection has ended, or when the endpoint is
 * paused, because then the socket stays full.  An endpoint that stops reading for another reason is
 * a bug.
 */
static void feed(const struct tcp_ep *ep, int fd, const uint8_t *data,
		 size_t len, size_t step, unsigned int *done, bool *gone)
{
	unsigned int stuck = 0;

	while (len) {
		size_t n = step && step < len ? step : len;
		ssize_t sent = send(fd, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && (errno != EAGAIN || paused(ep)))
			return;
		turn(done, gone);
		drain(fd);
		if (sent > 0) {
			data += sent;
			len -= (size_t)sent;
		}
		stuck = sent > 0 ? 0 : stuck + 1;
		FUZZ_SURE(stuck < STUCK_MAX);
	}
}

/* Clears the memory, so that no data of the previous input affects this one. */
static void clear_memory(void)
{
	memset(TARGET, 0, READABLE);
	memset(own, 0, sizeof(own));
}

static void check_memory(void)
{
	size_t i;

	for (i = READABLE; i < PAGE; i++)
		FUZZ_SURE(TARGET[i] == 0);
	for (i = READ_LEN; i < 1024; i++)
		FUZZ_SURE(own[i] == 0);
	for (i = 1024 + 512 * RECVS; i < sizeof(own); i++)
		FUZZ_SURE(own[i] == 0);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	unsigned int done = 0, posted, i;
	bool gone = false;
	struct tcp_ep *ep;
	int fd[2];

	if (len < 2)
		return;
	open_once();
	clear_memory();
	FUZZ_SURE(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd));
	ep = open_ep(fd[0], data[0] & IN_HELLO ? TCP_EP_HELLO : TCP_EP_UP);
	if (data[0] & IN_CHECKS)
		ep->check_len = TCP_CHECK_LEN;
	post_all(ep, data[0]);
	posted = ep->sq.q.tail + ep->rq.tail;
	feed(ep, fd[1], data + 2, len - 2, data[1], &done, &gone);
	close(fd[1]);
	for (i = 0; i < STUCK_MAX && !gone && !paused(ep); i++)
		turn(&done, &gone);
	turn(&done, &gone);
	/* a paused endpoint has not seen the end of the connection yet */
	FUZZ_SURE(gone || paused(ep));
	FUZZ_SURE(!gone || done == posted);
	tp_ep_close(&ep->ep);
	check_memory();
}

/* ---- seeds ---- */

struct seed {
	uint8_t buf[2048];
	size_t len;
};

static void add(struct seed *s, struct tcp_frame f, struct tcp_seg seg)
{
	uint32_t i, payload;

	tcp_frame_put(s->buf + s->len, &f);
	s->len += TCP_HEAD_LEN;
	for (i = 0; i < f.nseg; i++, s->len += TCP_SEG_LEN)
		tcp_seg_put(s->buf + s->len, &seg);
	payload = f.op == TCP_OP_READ ? 0 : f.len;
	memset(s->buf + s->len, 0x5a, payload);
	s->len += payload;
}

/* As add(), with a check value for at most 20 bytes of the payload. */
static void add_checked(struct seed *s, struct tcp_frame f, struct tcp_seg seg)
{
	uint8_t *head = s->buf + s->len, rest[sizeof(s->buf)];
	struct tcp_check check = { .covered = 0 };
	size_t n;

	add(s, f, seg);
	if (f.op == TCP_OP_SEND)
		check.covered = f.len < 20 ? f.len : 20;
	check.rest = crc32c(0, head + TCP_HEAD_LEN,
			    tcp_frame_need(&f) - TCP_HEAD_LEN + check.covered);
	n = (size_t)(s->buf + s->len - head) - TCP_HEAD_LEN;
	memcpy(rest, head + TCP_HEAD_LEN, n);
	tcp_check_put(head, &check);
	memcpy(head + TCP_HEAD_LEN + TCP_CHECK_LEN, rest, n);
	s->len += TCP_CHECK_LEN;
}

static void emit(struct seed *s, uint8_t what, uint8_t step)
{
	s->buf[0] = what;
	s->buf[1] = step;
	fuzz_seed(s->buf, s->len);
	s->len = 2;
}

void fuzz_seeds(void)
{
	struct tcp_seg seg = { (uintptr_t)TARGET + 64, KEY, 32 }, none = { 0 };
	struct tcp_seg word = { (uintptr_t)TARGET, KEY, 8 };
	struct seed s = { .len = 2 };

	add(&s, (struct tcp_frame){ TCP_OP_SEND, 0, 40, 0, 1 }, none);
	add(&s, (struct tcp_frame){ TCP_OP_SEND, 0, 512, 0, 2 }, none);
	emit(&s, 2, 0);
	add(&s, (struct tcp_frame){ TCP_OP_SEND, 0, 40, 0, 1 }, none);
	add(&s, (struct tcp_frame){ TCP_OP_WRITE_IMM, 1, 32, 9, 2 }, seg);
	emit(&s, 3, 7);
	add(&s, (struct tcp_frame){ TCP_OP_WRITE, 4, 128, 0, 1 }, seg);
	add(&s, (struct tcp_frame){ TCP_OP_READ, 8, 256, 0, 2 }, seg);
	add(&s, (struct tcp_frame){ TCP_OP_BYE, 0, 0, 0, 0 }, none);
	emit(&s, 1, 33);
	add(&s, (struct tcp_frame){ TCP_OP_FETCH_ADD, 1, 16, 0, 1 }, word);
	add(&s, (struct tcp_frame){ TCP_OP_CMP_SWAP, 1, 16, 0, 2 }, word);
	emit(&s, 0, 0);
	add(&s, (struct tcp_frame){ TCP_OP_READ_DATA, 0, READ_LEN, 0, 1 },
	    none);
	add(&s, (struct tcp_frame){ TCP_OP_ATOMIC_OLD, 0, 8, 0, 2 }, none);
	emit(&s, IN_READ | IN_ATOMIC, 50);
	add(&s, (struct tcp_frame){ TCP_OP_NAK, 0, 0, TCP_NAK_ACCESS, 1 },
	    none);
	emit(&s, IN_READ | 1, 0);
	add(&s, (struct tcp_frame){ TCP_OP_ACCEPT, 0, TCP_HELLO_LEN, 0, 0 },
	    none);
	tcp_hello_put(s.buf + s.len - TCP_HELLO_LEN, NULL, 0);
	add(&s, (struct tcp_frame){ TCP_OP_SEND, 0, 8, 0, 1 }, none);
	emit(&s, IN_HELLO | 1, 0);
	add(&s, (struct tcp_frame){ TCP_OP_REJECT, 0, TCP_HELLO_LEN, 0, 0 },
	    none);
	tcp_hello_put(s.buf + s.len - TCP_HELLO_LEN, NULL, 0);
	emit(&s, IN_HELLO, 3);
	add_checked(&s, (struct tcp_frame){ TCP_OP_SEND, 0, 40, 0, 1 }, none);
	add_checked(&s, (struct tcp_frame){ TCP_OP_WRITE_IMM, 1, 32, 9, 2 },
		    seg);
	add_checked(&s, (struct tcp_frame){ TCP_OP_READ, 2, 64, 0, 3 }, seg);
	add_checked(&s, (struct tcp_frame){ TCP_OP_FETCH_ADD, 1, 16, 0, 4 },
		    word);
	emit(&s, IN_CHECKS | 3, 7);
	/* no receive is posted, and there are more messages of one byte than fit into the socket */
	add(&s, (struct tcp_frame){ TCP_OP_SEND, 0, 512, 0, 1 }, none);
	add(&s, (struct tcp_frame){ TCP_OP_SEND, 0, 512, 0, 2 }, none);
	add(&s, (struct tcp_frame){ TCP_OP_SEND, 0, 512, 0, 3 }, none);
	emit(&s, 0, 1);
}
