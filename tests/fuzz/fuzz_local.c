/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_local.c - a hostile peer of the local provider.  The input has the requests that are posted
 * at this end, and then steps of the peer: records with any header, any value in any control word,
 * and any bytes in the rings.  Key and address of the target memory are fixed, so that an input has
 * the same effect in every run.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/local_rig.h"

#define TARGET ((uint8_t *)0x200000000000)
#define KEY 0x00010000u
#define PAGE 4096u
/* number of bytes at the start of the target that the peer may read */
#define READABLE 1024u
#define RECV_LEN 512u
#define READ_LEN 100u

/* Bits of the first byte of an input: the requests that are posted. */
#define IN_RECVS 0x03u
#define IN_READ 0x04u
#define IN_ATOMIC 0x08u

/* Kinds of steps of the peer. */
enum { RECORD, WORD, BYTES, TURN, KINDS };

static struct local_rig rig;
static struct tp_mr *target, *own_mr;
static uint8_t own[PAGE];

/* Gives the first memory slot the key that the inputs use. */
static void fix_key(void)
{
	struct local_mrs *mrs = &local_dev(rig.dev)->mrs;

	FUZZ_SURE((target->rkey & 0xffff) == 0);
	target->rkey = target->lkey = KEY;
	atomic_store(&mrs->table[0].key, KEY);
}

static void open_once(void)
{
	const unsigned int all = TP_REMOTE_READ | TP_REMOTE_WRITE |
				 TP_REMOTE_ATOMIC;

	if (rig.dev)
		return;
	FUZZ_SURE(mmap(TARGET, PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		       0) == TARGET);
	FUZZ_SURE(local_rig_open(&rig) == 0);
	FUZZ_SURE(tp_mr_reg(rig.dev, TARGET, READABLE, all, &target) == 0);
	FUZZ_SURE(tp_mr_reg(rig.dev, own, sizeof(own), TP_LOCAL_WRITE,
			    &own_mr) == 0);
	fix_key();
}

static void post(enum tp_opcode op, uint32_t len)
{
	struct tp_sge sge = { own + 2048, len, own_mr->lkey };
	struct tp_send_wr wr = {
		.opcode = op, .flags = TP_SIGNALED, .sgl = &sge, .nsge = 1
	};

	FUZZ_SURE(tp_post_send(rig.ep, &wr) == 0);
}

static void turn(void)
{
	local_rig_turn(&rig, own_mr, RECV_LEN, 0);
	FUZZ_SURE(rig.wc.status <= 0 && rig.wc.opcode <= TP_RECV_IMM);
	FUZZ_SURE(rig.wc.opcode != TP_RECV || rig.wc.byte_len <= RECV_LEN);
}

/* Writes a record: its whole header is from the input, and its payload is arbitrary. */
static size_t record(struct raw *raw, const uint8_t *p, size_t len)
{
	static const uint8_t stuff[LOCAL_PIECE];
	struct local_head head;

	if (len < sizeof(head))
		return 0;
	memcpy(&head, p, sizeof(head));
	raw_put(raw, &head, stuff);
	return sizeof(head);
}

/* Writes 32 bits of the input to a word of the control page. */
static size_t word(struct raw *raw, const uint8_t *p, size_t len)
{
	uint32_t at, val;

	if (len < 6)
		return 0;
	at = (p[0] | (uint32_t)p[1] << 8) % (sizeof(struct local_ctl) / 4);
	memcpy(&val, p + 2, sizeof(val));
	atomic_store((_Atomic uint32_t *)(void *)raw->shm.ctl + at, val);
	return 6;
}

/* Writes bytes of the input into the rings. */
static size_t bytes(struct raw *raw, const uint8_t *p, size_t len)
{
	uint32_t at;
	size_t n;

	if (len < 4)
		return 0;
	at = (p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16) %
	     raw->shm.size;
	n = p[3] < len - 4 ? p[3] : len - 4;
	memcpy(raw->shm.ring[0] + at, p + 4, n);
	return 4 + n;
}

static size_t step(struct raw *raw, const uint8_t *p, size_t len)
{
	switch (*p % KINDS) {
	case RECORD:
		return record(raw, p + 1, len - 1);
	case WORD:
		return word(raw, p + 1, len - 1);
	case BYTES:
		return bytes(raw, p + 1, len - 1);
	default:
		turn();
		return 0;
	}
}

/* Clears the memory, so that no data of the previous input affects this one. */
static void clear_memory(void)
{
	memset(TARGET, 0, READABLE);
	memset(own, 0, sizeof(own));
}

static void check_memory(unsigned int recvs)
{
	size_t i;

	for (i = READABLE; i < PAGE; i++)
		FUZZ_SURE(TARGET[i] == 0);
	for (i = RECV_LEN * recvs; i < 2048; i++)
		FUZZ_SURE(own[i] == 0);
	for (i = 2048 + READ_LEN; i < sizeof(own); i++)
		FUZZ_SURE(own[i] == 0);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	unsigned int recvs, i;
	uint64_t give_up;
	struct raw raw;
	size_t at = 1;

	if (len < 1)
		return;
	open_once();
	clear_memory();
	recvs = data[0] & IN_RECVS;
	FUZZ_SURE(raw_open(&rig, &raw, own_mr, RECV_LEN, recvs) == 0);
	if (data[0] & IN_READ)
		post(TP_READ, READ_LEN);
	if (data[0] & IN_ATOMIC)
		post(TP_FETCH_ADD, 8);
	while (at < len)
		at += 1 + step(&raw, data + at, len - at);
	for (i = 0; i < 4; i++)
		turn();
	raw_close(&raw);
	/* the provider checks the socket only from time to time */
	give_up = clock_after_ms(RAW_PATIENCE_MS);
	while (!rig.gone && clock_now() < give_up)
		turn();
	FUZZ_SURE(rig.gone);
	tp_ep_close(rig.ep);
	rig.ep = NULL;
	check_memory(recvs);
}

/* ---- seeds ---- */

struct seed {
	uint8_t buf[1024];
	size_t len;
};

static void add(struct seed *s, struct local_head head)
{
	s->buf[s->len++] = RECORD;
	memcpy(s->buf + s->len, &head, sizeof(head));
	s->len += sizeof(head);
}

static void add_word(struct seed *s, size_t offset, uint32_t val)
{
	s->buf[s->len++] = WORD;
	s->buf[s->len++] = (uint8_t)(offset / 4);
	s->buf[s->len++] = (uint8_t)(offset / 4 >> 8);
	memcpy(s->buf + s->len, &val, sizeof(val));
	s->len += sizeof(val);
}

static void emit(struct seed *s, uint8_t what)
{
	s->buf[0] = what;
	fuzz_seed(s->buf, s->len);
	s->len = 1;
}

static struct local_head head_of(enum local_op op, uint32_t size,
				 uint32_t total)
{
	return (struct local_head){ .op = (uint16_t)op,
				    .size = size,
				    .id = 1,
				    .addr = (uintptr_t)TARGET,
				    .rkey = KEY,
				    .total = total };
}

/* Adds a message with another payload than record() writes. */
static void seed_of_payload(struct seed *s)
{
	static const uint8_t place[] = { BYTES, sizeof(struct local_head), 0, 0,
					 40 };

	add(s, head_of(LOCAL_OP_SEND, 40, 40));
	memcpy(s->buf + s->len, place, sizeof(place));
	s->len += sizeof(place);
	memset(s->buf + s->len, 0xa5, 40);
	s->len += 40;
	emit(s, 1);
}

static void seeds_of_messages(struct seed *s)
{
	add(s, head_of(LOCAL_OP_SEND, 40, 40));
	add(s, head_of(LOCAL_OP_SEND, 100, 512));
	s->buf[s->len++] = TURN;
	add(s, head_of(LOCAL_OP_MORE, 412, 512));
	emit(s, 2);
	add(s, head_of(LOCAL_OP_WRITE, 1024, 1024));
	add(s, head_of(LOCAL_OP_WRITE_IMM, 64, 64));
	add(s, head_of(LOCAL_OP_IMM, 0, 64));
	emit(s, 3);
	add(s, head_of(LOCAL_OP_READ, 0, 1024));
	add(s, head_of(LOCAL_OP_FETCH_ADD, 16, 8));
	add(s, head_of(LOCAL_OP_CMP_SWAP, 16, 8));
	emit(s, 0);
	add(s, head_of(LOCAL_OP_READ_DATA, 60, READ_LEN));
	add(s, head_of(LOCAL_OP_MORE, 40, READ_LEN));
	emit(s, IN_READ);
	add(s, head_of(LOCAL_OP_OLD, 8, 8));
	emit(s, IN_ATOMIC);
}

void fuzz_seeds(void)
{
	const size_t peer = offsetof(struct local_ctl, side[0]);
	struct seed s = { .len = 1 };

	seed_of_payload(&s);
	seeds_of_messages(&s);
	add_word(&s, peer + offsetof(struct local_side, tail), 64);
	add_word(&s, peer + offsetof(struct local_side, head), 64);
	emit(&s, 1);
	add_word(&s, peer + offsetof(struct local_side, status), (uint32_t)-13);
	add_word(&s, peer + offsetof(struct local_side, ended), 1);
	emit(&s, IN_READ);
	add_word(&s, peer + offsetof(struct local_side, asleep), 1);
	add_word(&s, peer + offsetof(struct local_side, starved), 1);
	add_word(&s, peer + offsetof(struct local_side, probe), 4096);
	add(&s, head_of(LOCAL_OP_READ, 0, 1024));
	emit(&s, IN_READ | 3);
}
