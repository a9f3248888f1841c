/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_caps.c - a client that violates the rules, at an iod that requires capabilities.  It neither
 * reads nor changes files that it did not open, by whatever request.  Over local the kernel tells
 * its identity, otherwise it has a ticket.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/trust/capability.h"
#include "common/util/clock.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "common/trust/keyring.h"
#include "common/trust/client_ticket.h"
#include "tests/run_suite.h"
#include "common/trust/ticket.h"

#define FILE_1 0x77771u
#define FILE_2 0x77772u
#define HOUR_NS (UINT64_C(3600) * 1000000000)
#define MANY 6000u /* more capabilities than the iod remembers */
#define SOME 500u /* the iod has forgotten at least one of so many */

static char dir[64], key_dir[64], key[80];
static struct iod_conf conf;
static struct iod *iod;
static struct addr addr;
static struct keyring *ring;
static struct client_ticket *pass;
static struct iodc client, mgr;

/* The capabilities that the client shows with its requests. */
static struct {
	struct capability cap[4];
	uint8_t sealed[4][CAPABILITY_LEN];
	unsigned int n;
	bool waits; /* shows them only if the iod asks for them */
	unsigned int shown;
} hand;

static size_t append_caps(void *arg, const struct rpc_caps_query *to, void *out,
			  size_t room)
{
	struct wire_caps head = { .n = htole32(hand.n) };

	if (!hand.n || (hand.waits && !to->must))
		return 0;
	memcpy(out, &head, sizeof(head));
	memcpy((uint8_t *)out + sizeof(head), hand.sealed,
	       hand.n * CAPABILITY_LEN);
	hand.shown++;
	return sizeof(head) + hand.n * CAPABILITY_LEN;
}

static const struct rpc_caps_source caps_source = { .append = append_caps };

static struct capability cap_of(uint64_t handle, uint32_t rights)
{
	return (struct capability){ { IODC_FSID, client.session, 1,
				      clock_boot() + HOUR_NS },
				    handle,
				    rights };
}

static void add(const struct capability *cap)
{
	ck_assert_int_eq(capability_seal(ring, cap, hand.sealed[hand.n]), 0);
	hand.cap[hand.n++] = *cap;
}

static void take(uint64_t handle, uint32_t rights)
{
	struct capability cap = cap_of(handle, rights);

	add(&cap);
}

static void nothing(void)
{
	memset(&hand, 0, sizeof(hand));
}

static void start(void)
{
	const struct iodc_with as_mgr = { .prover = keyring_prover(ring) };

	iod_here_start(&conf, NULL, &iod, &addr);
	conf.addr = addr;
	iodc_open_with(&mgr, &addr, WIRE_ROLE_MGR, 0, &as_mgr);
	ck_assert_int_eq(iodc_claim(&mgr, 1), 0);
	ck_assert_int_eq(iodc_lease(&mgr, 3600000), 0);
}

/* Gives the client a ticket, as the manager does. */
static void give_ticket(void)
{
	const struct ticket t = { .limits = { IODC_FSID, client.session, 1,
					      clock_boot() + HOUR_NS },
				  .uid = 1000,
				  .gid = 1000 };
	uint8_t sealed[TICKET_MAX], secret[MAC_KEY_LEN];
	int len = ticket_seal(ring, &t, sealed, sizeof(sealed));

	ck_assert_int_gt(len, 0);
	ck_assert_int_eq(ticket_secret(ring, sealed, (size_t)len, secret), 0);
	ck_assert_int_eq(client_ticket_set(pass, sealed, (size_t)len, secret),
			 0);
}

static void client_come(void)
{
	struct iodc_with as = { .caps = &caps_source };

	if (strcmp(addr.scheme, "local"))
		as.prover = client_ticket_prover(pass);
	iodc_open_with(&client, &addr, WIRE_ROLE_CLIENT, 0, &as);
	give_ticket();
}

static void setup(void)
{
	nothing();
	iodc_mkdir(dir);
	iodc_mkdir(key_dir);
	snprintf(key, sizeof(key), "%s/key", key_dir);
	iod_here_conf(&conf, dir);
	conf.new_store = true;
	conf.threads = 2;
	conf.auth.mode = AUTH_KEY;
	conf.auth.caps = true;
	conf.words = IOD_WORDS_ALL; /* without it, no user could connect */
	strcpy(conf.key, key);
	ck_assert_int_eq(keyring_open(key, true, NULL, &ring), 0);
	ck_assert_int_eq(client_ticket_new(&pass), 0);
	start();
	client_come();
}

static void teardown(void)
{
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	client_ticket_free(pass);
	keyring_close(ring);
	iodc_rmdir(dir);
	iodc_rmdir(key_dir);
}

static int rd(uint64_t handle)
{
	uint64_t done;

	return iodc_pread(&client, handle, 0, 100, &done);
}

/* Moves the data by RDMA.  Otherwise the client library could not add the capability. */
static int io(uint64_t handle, uint32_t len, bool write)
{
	struct wire_region reg = { 0, htole64(len) };
	struct iodc_mem mem = { 0, len };
	struct iodc_io io = { .handle = handle,
			      .reg = &reg,
			      .nreg = 1,
			      .mem = &mem,
			      .nmem = 1,
			      .total = len };

	return write ? iodc_write(&client, &io) : iodc_read(&client, &io);
}

static int wr(uint64_t handle)
{
	return io(handle, 100, true);
}

static int fallocate_it(uint64_t handle)
{
	struct wire_fallocate body = { .handle = htole64(handle),
				       .len = htole64(10) };

	return iodc_call(&client, WIRE_FALLOCATE, &body, sizeof(body), NULL, 0);
}

static int seek_it(uint64_t handle)
{
	struct wire_seek body = { .handle = htole64(handle) };

	return iodc_call(&client, WIRE_SEEK, &body, sizeof(body), NULL, 0);
}

static int copy_it(uint64_t handle, uint64_t from)
{
	struct wire_copy body = { .handle = htole64(handle),
				  .from = htole64(from),
				  .len = htole64(10) };

	return iodc_call(&client, WIRE_COPY, &body, sizeof(body), NULL, 0);
}

static int count(uint64_t handle, uint64_t value)
{
	struct wire_counter body = { .handle = htole64(handle),
				     .value = htole64(value) };

	return iodc_call(&client, WIRE_COUNTER, &body, sizeof(body), NULL, 0);
}

static int place(uint64_t handle)
{
	struct wire_place body = { .handle = htole64(handle),
				   .step = htole64(1) };

	return iodc_call(&client, WIRE_PLACE, &body, sizeof(body), NULL, 0);
}

static int borrow(uint64_t handle, uint32_t flags)
{
	struct wire_borrow body = { .handle = htole64(handle),
				    .flags = htole32(flags) };

	return iodc_call(&client, WIRE_BORROW, &body, sizeof(body), NULL, 0);
}

static int list(uint64_t handle, unsigned int op)
{
	struct wire_list body = { .io = { .handle = htole64(handle),
					  .total = htole64(64),
					  .nreg = htole32(1),
					  .nmem = htole32(1) },
				  .dist = { 0, htole32(1), htole32(65536),
					    0 } };
	struct wire_vec vec = { 0,	     htole64(64), htole64(64),
				htole64(64), htole32(1),  htole32(1) };
	struct wire_mem mem = { htole64((uintptr_t)client.arena), htole32(64),
				htole32(client.mr->rkey) };
	struct iodc_item tail[] = { { &vec, sizeof(vec) },
				    { &mem, sizeof(mem) } };

	return iodc_call(&client, op, &body, sizeof(body), tail, 2);
}

static void reads_are(uint64_t handle, int status)
{
	ck_assert_int_eq(rd(handle), status);
	ck_assert_int_eq(io(handle, 200, false), status);
	ck_assert_int_eq(io(handle, 1 << 20, false), status);
	ck_assert_int_eq(list(handle, WIRE_READ_LIST), status);
	ck_assert_int_eq(count(handle, 0), status);
}

static void changes_are(uint64_t handle, int status)
{
	ck_assert_int_eq(wr(handle), status);
	ck_assert_int_eq(io(handle, 1 << 20, true), status);
	ck_assert_int_eq(list(handle, WIRE_WRITE_LIST), status);
	ck_assert_int_eq(fallocate_it(handle), status);
	ck_assert_int_eq(count(handle, 1), status);
}

static void is_not_there(uint64_t handle)
{
	uint64_t size = 1;

	ck_assert_int_eq(iodc_size(&mgr, handle, &size), 0);
	ck_assert_uint_eq(size, 0);
}

/* Checks that the object does not exist: an existing one has an mtime. */
static void is_not_made(uint64_t handle)
{
	const struct wire_objsize *obj = (void *)mgr.tail;

	is_not_there(handle);
	ck_assert_uint_eq(le64toh(obj->mtime), 0);
}

/* The handle of a file alone gives no access. */
START_TEST(handle_alone)
{
	reads_are(FILE_1, -ENOKEY);
	changes_are(FILE_1, -ENOKEY);
	ck_assert_int_eq(iodc_pwrite(&client, FILE_1, 0, 100), -ENOKEY);
	ck_assert_int_eq(copy_it(FILE_1, FILE_2), -ENOKEY);
	ck_assert_int_eq(seek_it(FILE_1), -ENOKEY);
	ck_assert_int_eq(borrow(FILE_1, 0), -ENOKEY);
	ck_assert_int_eq(borrow(FILE_1, WIRE_B_WRITE | WIRE_B_PAGES), -ENOKEY);
	ck_assert_int_eq(place(FILE_1), -ENOKEY);
	is_not_there(FILE_1);
}
END_TEST

/*
 * A client without a capability may ask with this special handle whether the iod lends objects. The
 * handle gives no access to anything.
 */
START_TEST(handle_of_none)
{
	bool local = !strcmp(addr.scheme, "local");
	int rc = borrow(WIRE_B_NO_OBJECT, 0);

	ck_assert_int_ne(rc, -ENOKEY);
	ck_assert(!local || !rc);
	ck_assert_int_eq(borrow(WIRE_B_NO_OBJECT, WIRE_B_WRITE | WIRE_B_PAGES),
			 rc);
	reads_are(WIRE_B_NO_OBJECT, -ENOKEY);
	changes_are(WIRE_B_NO_OBJECT, -ENOKEY);
	is_not_there(WIRE_B_NO_OBJECT);
}
END_TEST

/* After it was shown once, a capability is valid for the session, and only for its file. */
START_TEST(shown_once)
{
	take(FILE_1, CAPABILITY_ALL);
	ck_assert_int_eq(wr(FILE_1), 0);
	nothing();
	changes_are(FILE_1, 0);
	reads_are(FILE_1, 0);
	ck_assert_int_eq(iodc_pwrite(&client, FILE_1, 0, 100), 0);
	ck_assert_int_eq(place(FILE_1), -EOPNOTSUPP);
	reads_are(FILE_2, -ENOKEY);
	changes_are(FILE_2, -ENOKEY);
	is_not_there(FILE_2);
}
END_TEST

/* SEEK needs only one of the two rights. */
START_TEST(one_right)
{
	take(FILE_1, CAPABILITY_READ);
	reads_are(FILE_1, 0);
	ck_assert_int_eq(seek_it(FILE_1), 0);
	is_not_made(FILE_1);
	changes_are(FILE_1, -ENOKEY);
	ck_assert_int_eq(borrow(FILE_1, WIRE_B_WRITE | WIRE_B_PAGES), -ENOKEY);
	nothing();
	take(FILE_2, CAPABILITY_WRITE);
	changes_are(FILE_2, 0);
	reads_are(FILE_2, -ENOKEY);
	ck_assert_int_eq(seek_it(FILE_2), 0);
	ck_assert_int_eq(borrow(FILE_2, WIRE_B_PAGES), -ENOKEY);
	is_not_there(FILE_1);
}
END_TEST

/* A copy needs the right to read the source and the right to write the target. */
START_TEST(copies)
{
	take(FILE_1, CAPABILITY_WRITE);
	ck_assert_int_eq(copy_it(FILE_1, FILE_2), -ENOKEY);
	take(FILE_2, CAPABILITY_WRITE);
	ck_assert_int_eq(copy_it(FILE_1, FILE_2), -ENOKEY);
	ck_assert_int_eq(copy_it(FILE_2, FILE_1), -ENOKEY);
	take(FILE_2, CAPABILITY_READ);
	ck_assert_int_eq(wr(FILE_2), 0);
	ck_assert_int_eq(copy_it(FILE_1, FILE_2), 0);
	ck_assert_int_eq(copy_it(FILE_2, FILE_1), -ENOKEY);
}
END_TEST

/* A capability with any changed bit is rejected. */
START_TEST(forged)
{
	struct capability cap = cap_of(FILE_1, CAPABILITY_ALL);
	unsigned int i;
	int rc;

	for (i = 0; i < CAPABILITY_LEN; i++) {
		nothing();
		add(&cap);
		hand.sealed[0][i] ^= (uint8_t)(1u << i % 8);
		rc = wr(FILE_1);
		/* the first bytes name the key; an unknown name may be that of a later key */
		ck_assert_int_eq(rc, i < 4 ? -EKEYREVOKED : -EKEYREJECTED);
	}
	is_not_there(FILE_1);
}
END_TEST

START_TEST(borrowed)
{
	struct capability cap = cap_of(FILE_1, CAPABILITY_ALL);

	cap.limits.session ^= 1;
	add(&cap);
	ck_assert_int_eq(rd(FILE_1), -EKEYREJECTED);
	nothing();
	cap = cap_of(FILE_1, CAPABILITY_ALL);
	cap.limits.fsid ^= 1;
	add(&cap);
	ck_assert_int_eq(rd(FILE_1), -EKEYREJECTED);
	/* an additional valid capability does not help */
	take(FILE_1, CAPABILITY_ALL);
	ck_assert_int_eq(rd(FILE_1), -EKEYREJECTED);
	nothing();
	ck_assert_int_eq(rd(FILE_1), -ENOKEY);
}
END_TEST

START_TEST(ended)
{
	struct capability cap = cap_of(FILE_1, CAPABILITY_ALL);

	/* long ago, because the iod allows for the time that the manager's message took */
	cap.limits.expiry = clock_boot() / 2;
	add(&cap);
	ck_assert_int_eq(rd(FILE_1), -EKEYREVOKED);
	nothing();
	/* issued in an earlier term, at a clock that the iod does not know */
	cap = cap_of(FILE_1, CAPABILITY_ALL);
	cap.limits.term = 0;
	add(&cap);
	ck_assert_int_eq(rd(FILE_1), -EKEYREVOKED);
}
END_TEST

/* A verdict ends with what it came from, later by no more than the lease was under way. */
START_TEST(ends)
{
	struct capability cap = cap_of(FILE_1, CAPABILITY_ALL);
	unsigned int tries = 3000;

	cap.limits.expiry = clock_boot() + 2000 * CLOCK_NS_PER_MS;
	add(&cap);
	ck_assert_int_eq(wr(FILE_1), 0);
	nothing();
	while (clock_boot() < cap.limits.expiry || (!rd(FILE_1) && tries--))
		usleep(10000);
	ck_assert_int_eq(rd(FILE_1), -ENOKEY);
	ck_assert_int_eq(wr(FILE_1), -ENOKEY);
}
END_TEST

/* The capability is from a later manager, which the iod does not know yet. */
START_TEST(of_the_next_manager)
{
	struct capability cap = cap_of(FILE_1, CAPABILITY_ALL);

	cap.limits.term = 2;
	add(&cap);
	ck_assert_int_eq(wr(FILE_1), 0);
}
END_TEST

START_TEST(fenced)
{
	take(FILE_1, CAPABILITY_ALL);
	ck_assert_int_eq(wr(FILE_1), 0);
	ck_assert_int_eq(iodc_fence_by(&mgr, client.session,
				       _i ? WIRE_FN_MEMORY : 0),
			 0);
	ck_assert_int_eq(wr(FILE_1), -ESTALE);
	ck_assert_int_eq(rd(FILE_1), -ESTALE);
}
END_TEST

/* As many sessions end by themselves as the iod remembers. */
static void others_leave(void)
{
	const struct wire_fence body = { .n = htole32(WIRE_FENCE_MAX),
					 .flags = htole32(WIRE_FN_MEMORY) };
	le64 id[WIRE_FENCE_MAX];
	const struct iodc_item item = { id, sizeof(id) };

	for (uint64_t n = 1; n <= RPC_FENCE_MAX;) {
		for (unsigned int i = 0; i < WIRE_FENCE_MAX; i++)
			id[i] = htole64(client.session + n++);
		ck_assert_int_eq(iodc_call(&mgr, WIRE_FENCE, &body,
					   sizeof(body), &item, 1),
				 0);
	}
}

static void come_back(void)
{
	struct iodc_with as = { .caps = &caps_source };
	uint64_t session = client.session;

	iodc_close(&client);
	if (strcmp(addr.scheme, "local"))
		as.prover = client_ticket_prover(pass);
	iodc_open_with(&client, &addr, WIRE_ROLE_CLIENT, session, &as);
}

/* The iod remembers an evicted session even if many others come and leave. */
START_TEST(fenced_for_good)
{
	take(FILE_1, CAPABILITY_ALL);
	ck_assert_int_eq(wr(FILE_1), 0);
	ck_assert_int_eq(iodc_fence_by(&mgr, client.session, WIRE_FN_EVICT), 0);
	others_leave();
	for (int i = 0; i < 2; i++) {
		come_back();
		ck_assert_int_eq(wr(FILE_1), -ESTALE);
		ck_assert_int_eq(rd(FILE_1), -ESTALE);
	}
}
END_TEST

static void take_and_seek(uint64_t handle)
{
	hand.n = 0;
	take(handle, CAPABILITY_ALL);
	ck_assert_int_eq(seek_it(handle), 0);
}

/* If the iod has forgotten a capability, it asks the client for it, and the call succeeds. */
START_TEST(shown_again)
{
	unsigned int i;

	for (i = 1; i <= MANY; i++)
		take_and_seek(FILE_1 + i);
	hand.waits = true;
	for (i = 1; i <= SOME; i++)
		take_and_seek(FILE_1 + i);
	ck_assert_uint_gt(hand.shown, MANY);
}
END_TEST

/* A restarted iod does not know the capabilities that were shown before. */
START_TEST(restarted)
{
	take(FILE_1, CAPABILITY_ALL);
	ck_assert_int_eq(wr(FILE_1), 0);
	nothing();
	ck_assert_int_eq(rd(FILE_1), 0);
	iodc_close(&mgr);
	iod_stop(iod);
	conf.new_store = false;
	start();
	ck_assert_int_eq(rd(FILE_1), -ENOKEY);
	hand.waits = true;
	take(FILE_1, CAPABILITY_READ);
	ck_assert_int_eq(rd(FILE_1), 0);
}
END_TEST

static void write_key(const char *text)
{
	FILE *f = fopen(key, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* Capabilities of a removed key are invalid, also those that the iod has verified before. */
START_TEST(key_gone)
{
	char was[80], text[200];
	FILE *f = fopen(key, "r");

	ck_assert_ptr_nonnull(fgets(was, sizeof(was), f));
	fclose(f);
	take(FILE_1, CAPABILITY_ALL);
	ck_assert_int_eq(wr(FILE_1), 0);
	nothing();
	/* an additional key invalidates nothing */
	snprintf(text, sizeof(text), "%s%064d\n", was, 7);
	write_key(text);
	iod_reload(iod);
	ck_assert_int_eq(wr(FILE_1), 0);
	write_key(text + strlen(was));
	iod_reload(iod);
	ck_assert_int_eq(rd(FILE_1), -ENOKEY);
	ck_assert_int_eq(borrow(FILE_1, WIRE_B_PAGES), -ENOKEY);
	take(FILE_1, CAPABILITY_ALL);
	ck_assert_int_eq(wr(FILE_1), -EKEYREVOKED);
	ck_assert_int_eq(keyring_reload(ring), 0);
	nothing();
	take(FILE_1, CAPABILITY_ALL);
	ck_assert_int_eq(wr(FILE_1), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_caps");
	TCase *tc = tcase_create("hostile");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, handle_alone);
	tcase_add_test(tc, handle_of_none);
	tcase_add_test(tc, shown_once);
	tcase_add_test(tc, one_right);
	tcase_add_test(tc, copies);
	tcase_add_test(tc, forged);
	tcase_add_test(tc, borrowed);
	tcase_add_test(tc, ended);
	tcase_add_test(tc, ends);
	tcase_add_test(tc, of_the_next_manager);
	tcase_add_loop_test(tc, fenced, 0, 2);
	tcase_add_test(tc, fenced_for_good);
	tcase_add_test(tc, shown_again);
	tcase_add_test(tc, restarted);
	tcase_add_test(tc, key_gone);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
