/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvcaps.c - clients on this host that violate the rules of capabilities.
 *
 * 	pvcaps FSID MGR IOD KEY TERM
 *
 * Reads one order a line, and prints ok, none or the name of an error for each. An order names
 * sessions: a to d connect over local, and e to h over tcp. MGR and IOD are HOST:PORT. The sessions
 * over tcp create their identities with the servers' KEY, for the manager of TERM. They cannot
 * create capabilities.
 *
 * 	open a PATH r|w		opens PATH; a gets the capability
 * 	read a b, write a b	a reads or writes b's file with b's capability
 * 	read a b -, write a b -	the same without a capability
 * 	count a b		as read, with a counter call, which needs the right to read
 * 				(read uses SEEK, which either right permits)
 * 	forge a			changes a bit of a's capability
 * 	aim a b			a uses its capability for b's file
 * 	renew a b		a asks the manager for a new capability for b's file
 * 	leave a			a disconnects from the manager without BYE
 * 	bye a			a sends BYE to the manager, and stays connected to the iod
 * 	again a			a connects to the iod again, with the same session number
 * 	back a			the same, and to the manager, which it had left
 * 	lose a PATH		a creates PATH and opens it for writing; the connection breaks
 * 				before the reply arrives, and is not restored
 * 	found a			a connects again and repeats that open; it gets the capability
 * 	as e UID		e will connect as this user, not as root
 * 	claim a b		a declares to the manager that it has b's file open for reading,
 * 				and passes this open on to itself; a gets the capability
 * 	hold a PATH		a opens PATH only to hold it, neither to read nor to write, and
 * 				passes an open for reading on to itself; a gets the capability
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/transport/fault/fault.h"
#include "tests/e2e/mgr/mgrc.h"
#include "common/trust/client_ticket.h"
#include "common/trust/ticket.h"

#define SESSIONS 8
#define OVER_LOCAL 4 /* sessions before this index use local */
/* in the number of an open: held only in the manager's memory (holds.c) */
#define HELD (UINT64_C(1) << 63)
#define DAY_NS (UINT64_C(86400) * 1000000000)
#define LINE_MAX_LEN 256

/* An open whose reply was lost. */
struct lost {
	struct rpc_call call;
	uint64_t msg[(WIRE_BODY_MAX + sizeof(struct wire_hdr)) / 8];
	bool over;
};

struct client {
	struct mgrc mgr, iod;
	struct client_ticket *pass;
	struct lost lost;
	bool open, left;
	uint32_t uid;
	uint64_t handle;
	uint8_t cap[WIRE_CAP_LEN];
};

static struct client clients[SESSIONS];
static const char *mgr_at, *iod_at; /* HOST:PORT */
static struct keyring *ring;
static uint64_t fsid, term;
static const uint8_t *in_hand; /* the capability to show, or NULL */

static size_t append_caps(void *arg, const struct rpc_caps_query *to, void *out,
			  size_t room)
{
	const struct wire_caps head = { .n = htole32(1) };

	if (!in_hand)
		return 0;
	memcpy(out, &head, sizeof(head));
	memcpy((uint8_t *)out + sizeof(head), in_hand, WIRE_CAP_LEN);
	return sizeof(head) + WIRE_CAP_LEN;
}

static const struct rpc_caps_source caps_source = { .append = append_caps };

static bool is_local(const struct client *c)
{
	return c - clients < OVER_LOCAL;
}

static void get_pass(struct client *c, uint64_t session)
{
	const struct ticket ticket = { .limits = { fsid, session, term,
						   clock_boot() + DAY_NS },
				       .uid = c->uid,
				       .gid = c->uid };
	uint8_t sealed[TICKET_MAX], secret[MAC_KEY_LEN];
	int len = ticket_seal(ring, &ticket, sealed, sizeof(sealed));

	must(len > 0);
	must(!ticket_secret(ring, sealed, (size_t)len, secret));
	must(!client_ticket_new(&c->pass));
	must(!client_ticket_set(c->pass, sealed, (size_t)len, secret));
}

static void meet(const struct client *c, struct mgrc *server, const char *at,
		 uint64_t session)
{
	struct addr addr;
	char uri[LINE_MAX_LEN];

	snprintf(uri, sizeof(uri), "%s%s://%s",
		 server == &c->mgr ? "fault+" : "",
		 is_local(c) ? "local" : "tcp", at);
	must(!addr_parse(uri, 0, &addr));
	*server = (struct mgrc){
		.fsid = fsid,
		.features = WIRE_FT_CAPS,
		.caps = &caps_source,
		.prover = c->pass ? client_ticket_prover(c->pass) : NULL,
		.server = server == &c->mgr ? WIRE_ROLE_MGR : WIRE_ROLE_IOD,
	};
	mgrc_open(server, &addr, session);
}

/* The numbers of these sessions are not random. */
static void begin(struct client *c)
{
	uint64_t session = fsid ^ (uint64_t)getpid() << 8 ^
			   (uint64_t)(c - clients + 1);

	if (!is_local(c))
		get_pass(c, session);
	meet(c, &c->mgr, mgr_at, session);
	meet(c, &c->iod, iod_at, session);
	c->open = true;
}

static int do_again(struct client *c)
{
	mgrc_close(&c->iod, false);
	meet(c, &c->iod, iod_at, c->mgr.session);
	return 0;
}

static int do_back(struct client *c)
{
	meet(c, &c->mgr, mgr_at, c->iod.session);
	c->left = false;
	return mgrc_call(&c->mgr, WIRE_PING, NULL, 0, NULL, 0);
}

static int do_open(struct client *c, const char *path, const char *how)
{
	uint32_t flags = strchr(how, 'w') ? WIRE_O_WRITE : WIRE_O_READ;
	struct mgrc_file f;
	int rc;

	if (!c->open)
		begin(c);
	rc = mgrc_open_file(&c->mgr, path, flags, &f);
	if (rc)
		return rc;
	if (!c->mgr.capped)
		return 1;
	c->handle = f.handle;
	memcpy(c->cap, c->mgr.cap, sizeof(c->cap));
	return 0;
}

static void found(struct rpc_call *call)
{
	const struct wire_open_rep *rep = call->reply.body;
	struct client *c = call->arg;

	c->lost.over = true;
	if (call->status)
		return;
	c->handle = le64toh(rep->attr.handle);
	c->mgr.capped = call->reply.caps;
	if (c->mgr.capped)
		memcpy(c->cap, call->reply.caps + 1, sizeof(c->cap));
}

static size_t build_create(uint64_t *msg, const char *path)
{
	struct wire_open body = {
		.flags = htole32(WIRE_O_CREAT | WIRE_O_EXCL | WIRE_O_WRITE),
		.mode = htole32(0644),
		.dist = { UINT32_MAX, UINT32_MAX, UINT32_MAX, 0 },
		.path_len = htole32((uint32_t)strlen(path))
	};
	struct mgrc_item item = { path, strlen(path) };

	return mgrc_build(msg, WIRE_OPEN, &body, sizeof(body), &item, 1);
}

static int do_lose(struct client *c, const char *path)
{
	struct lost *lost = &c->lost;
	char err[LINE_MAX_LEN];

	*lost = (struct lost){ .call = { .msg = lost->msg,
					 .deadline = clock_after_ms(300000),
					 .done = found,
					 .arg = c } };
	lost->call.msg_len = build_create(lost->msg, path);
	must(!fault_set(c->mgr.dev, "recv:reset;connect:refuse:count=always",
			err, sizeof(err)));
	rpc_call_start(c->mgr.peer, &lost->call);
	while (!lost->over && !fault_hits(c->mgr.dev, 1))
		rpc_ctx_progress(c->mgr.ctx, clock_after_ms(1000));
	return lost->over ? lost->call.status : 0;
}

static int do_found(struct client *c)
{
	char err[LINE_MAX_LEN];

	must(!fault_set(c->mgr.dev, "", err, sizeof(err)));
	while (!c->lost.over)
		rpc_ctx_progress(c->mgr.ctx, clock_after_ms(1000));
	return c->lost.call.status ? c->lost.call.status : !c->mgr.capped;
}

static int do_read(struct client *c, const struct client *whose)
{
	struct wire_seek body = { .handle = htole64(whose->handle) };

	return mgrc_call(&c->iod, WIRE_SEEK, &body, sizeof(body), NULL, 0);
}

static int do_write(struct client *c, const struct client *whose)
{
	struct wire_fallocate body = { .handle = htole64(whose->handle),
				       .len = htole64(10) };

	return mgrc_call(&c->iod, WIRE_FALLOCATE, &body, sizeof(body), NULL, 0);
}

static int do_count(struct client *c, const struct client *whose)
{
	struct wire_counter body = { .handle = htole64(whose->handle) };

	return mgrc_call(&c->iod, WIRE_COUNTER, &body, sizeof(body), NULL, 0);
}

static int do_renew(struct client *c, const struct client *whose)
{
	static const uint8_t none[WIRE_CAP_LEN];
	const struct wire_caps head = { .n = htole32(1) };
	const struct mgrc_item item[] = { { &head, sizeof(head) },
					  { whose->cap, WIRE_CAP_LEN } };
	int rc;

	c->mgr.shows = true;
	rc = mgrc_call(&c->mgr, WIRE_RENEW, NULL, 0, item, 2);
	c->mgr.shows = false;
	if (rc)
		return rc;
	if (!c->mgr.capped || !memcmp(c->mgr.cap, none, sizeof(none)))
		return 1;
	c->handle = whose->handle;
	memcpy(c->cap, c->mgr.cap, sizeof(c->cap));
	return 0;
}

static int redeem(struct client *c, const struct wire_grant_rep *granted)
{
	struct wire_redeem body = { .flags = htole32(WIRE_O_READ) };
	int rc;

	memcpy(body.token, granted->token, sizeof(body.token));
	rc = mgrc_call(&c->mgr, WIRE_REDEEM, &body, sizeof(body), NULL, 0);
	if (rc)
		return rc;
	if (!c->mgr.capped)
		return 1;
	memcpy(c->cap, c->mgr.cap, sizeof(c->cap));
	return 0;
}

static int pass_on(struct client *c, const struct mgrc_file *f)
{
	struct wire_grant body = { .handle = htole64(f->handle),
				   .open = htole64(f->open),
				   .flags = htole32(WIRE_O_READ) };
	struct wire_grant_rep granted;
	int rc = mgrc_call(&c->mgr, WIRE_GRANT, &body, sizeof(body), NULL, 0);

	if (rc)
		return rc;
	memcpy(&granted, c->mgr.body, sizeof(granted));
	c->handle = f->handle;
	return redeem(c, &granted);
}

static int do_claim(struct client *c, const struct client *whose)
{
	const struct mgrc_file f = { .handle = whose->handle,
				     .open = clock_boot() | HELD };
	int rc = mgrc_declare(&c->mgr, &f, 1, true);

	return rc ? rc : pass_on(c, &f);
}

/* If the manager issued no open number, there is nothing to pass on. */
static int do_hold(struct client *c, const char *path)
{
	struct mgrc_file f;
	int rc = mgrc_open_file(&c->mgr, path, WIRE_O_HOLD, &f);

	if (rc)
		return rc;
	return f.open ? pass_on(c, &f) : -EBADF;
}

static int do_leave(struct client *c, bool bye)
{
	mgrc_close(&c->mgr, bye);
	c->left = true;
	return 0;
}

static struct client *client_of(const char *word)
{
	if (!word || *word < 'a' || *word >= 'a' + SESSIONS) {
		fprintf(stderr, "pvcaps: which session?\n");
		exit(2);
	}
	return &clients[*word - 'a'];
}

/* Returns 0, -errno, or 1 if there is no such thing. */
static int run(char *word[4])
{
	struct client *c = client_of(word[1]);

	if (!strcmp(word[0], "open"))
		return do_open(c, word[2], word[3]);
	if (!strcmp(word[0], "as"))
		return c->uid = (uint32_t)atoi(word[2]), 0;
	if (!strcmp(word[0], "leave") || !strcmp(word[0], "bye"))
		return do_leave(c, *word[0] == 'b');
	if (!strcmp(word[0], "again"))
		return do_again(c);
	if (!strcmp(word[0], "back"))
		return do_back(c);
	if (!strcmp(word[0], "lose"))
		return do_lose(c, word[2]);
	if (!strcmp(word[0], "found"))
		return do_found(c);
	if (!strcmp(word[0], "renew"))
		return do_renew(c, client_of(word[2]));
	if (!strcmp(word[0], "aim"))
		return c->handle = client_of(word[2])->handle, 0;
	if (!strcmp(word[0], "forge"))
		return c->cap[WIRE_CAP_LEN - 1] ^= 1, 0;
	if (!c->open)
		begin(c);
	if (!strcmp(word[0], "claim"))
		return do_claim(c, client_of(word[2]));
	if (!strcmp(word[0], "hold"))
		return do_hold(c, word[2]);
	in_hand = word[3] ? NULL : client_of(word[2])->cap;
	if (!strcmp(word[0], "count"))
		return do_count(c, client_of(word[2]));
	return *word[0] == 'r' ? do_read(c, client_of(word[2]))
			       : do_write(c, client_of(word[2]));
}

static void answer(char *line)
{
	char *word[4] = { NULL }, *save = NULL;
	int rc;

	for (int i = 0; i < 4; i++)
		word[i] = strtok_r(i ? NULL : line, " \n", &save);
	rc = run(word);
	printf("%s\n", !rc ? "ok" : rc > 0 ? "none" : strerrorname_np(-rc));
	fflush(stdout);
}

/* Serves the connections while there is no order. */
static void attend(void)
{
	for (int i = 0; i < SESSIONS; i++) {
		if (!clients[i].open)
			continue;
		rpc_ctx_progress(clients[i].iod.ctx, 1);
		if (!clients[i].left)
			rpc_ctx_progress(clients[i].mgr.ctx, 1);
	}
}

int main(int argc, char **argv)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };
	static const struct log quiet;
	char line[LINE_MAX_LEN];

	if (argc != 6 || keyring_open(argv[4], false, &quiet, &ring)) {
		fprintf(stderr, "usage: pvcaps FSID MGR IOD KEY TERM\n");
		return 2;
	}
	fsid = strtoull(argv[1], NULL, 16);
	mgr_at = argv[2];
	iod_at = argv[3];
	term = strtoull(argv[5], NULL, 10);
	setbuf(stdin, NULL);
	for (;;) {
		while (poll(&in, 1, 10) <= 0)
			attend();
		if (!fgets(line, sizeof(line), stdin))
			break;
		answer(line);
	}
	for (int i = 0; i < SESSIONS; i++) {
		if (!clients[i].open)
			continue;
		mgrc_close(&clients[i].iod, false);
		if (!clients[i].left)
			mgrc_close(&clients[i].mgr, true);
		client_ticket_free(clients[i].pass);
	}
	keyring_close(ring);
	return 0;
}
