/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_parse.c - checks a message against its form before any use. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/wire/security_mode.h"
#include "common/wire/wire_form.h"

#define STATUS_ERRNO_MAX 4095u

/* A message while it is being checked. */
struct wire_cursor {
	struct wire_msg *msg;
	const uint8_t *at;
	size_t left;
	const char *why;
};

static int reject_msg(struct wire_cursor *c, const char *why)
{
	c->why = why;
	return -EPROTO;
}

static uint16_t read_le16(const void *body, uint32_t off)
{
	le16 v;

	memcpy(&v, (const uint8_t *)body + off, sizeof(v));
	return le16toh(v);
}

static uint32_t read_le32(const void *body, uint32_t off)
{
	le32 v;

	memcpy(&v, (const uint8_t *)body + off, sizeof(v));
	return le32toh(v);
}

static uint64_t read_le64(const void *body, uint32_t off)
{
	le64 v;

	memcpy(&v, (const uint8_t *)body + off, sizeof(v));
	return le64toh(v);
}

int wire_check_magic(const void *buf, size_t len, const char **why)
{
	const char *cause = NULL;
	int rc = -EPROTO;

	if (len < offsetof(struct wire_hdr, op)) {
		cause = "length: shorter than magic and version";
	} else if (read_le32(buf, 0) != WIRE_MAGIC) {
		cause = "magic: not this protocol";
	} else if (read_le16(buf, 4) < WIRE_VERSION ||
		   read_le16(buf, 4) > WIRE_VERSION_NEWEST) {
		cause = "version: another protocol version";
		rc = -EPROTONOSUPPORT;
	}
	if (cause && why)
		*why = cause;
	return cause ? rc : 0;
}

/* Advances by n bytes; there must be that many. */
static void skip_bytes(struct wire_cursor *c, size_t n)
{
	c->at += n;
	c->left -= n;
}

static const char *why_request(const struct wire_hdr *hdr)
{
	struct copyset_ref copyset = wire_copyset(hdr);

	if (!copyset.id && !copyset.version)
		return NULL;
	if (!wire_op_has_copyset(le16toh(hdr->op)))
		return "wire_hdr.credits, status: not zero in such a request";
	if (copyset.id < WIRE_COPYSET_MIN)
		return "wire_hdr.credits: not the id of a copyset";
	if (!copyset.version)
		return "wire_hdr.status: a copyset without its version";
	return NULL;
}

static const char *why_reply(const struct wire_hdr *hdr)
{
	if (le32toh(hdr->status) > STATUS_ERRNO_MAX &&
	    le32toh(hdr->status) != WIRE_REDIRECT)
		return "wire_hdr.status: unknown";
	return NULL;
}

static const char *why_hdr(const struct wire_hdr *hdr, size_t len)
{
	uint16_t flags = le16toh(hdr->flags);

	if (le32toh(hdr->len) != len)
		return "wire_hdr.len: not the length received";
	if (hdr->session == 0)
		return "wire_hdr.session: zero";
	if ((flags & ~(WIRE_F_PROOF | WIRE_F_APART | WIRE_F_SEAL |
		       WIRE_F_CAPS)) == WIRE_F_REPLY)
		return why_reply(hdr);
	if (flags &
	    ~(WIRE_F_REPLAY | WIRE_F_DATA | WIRE_F_PLACE | WIRE_F_CARRY |
	      WIRE_F_UNSURE | WIRE_F_STATE_LOST | WIRE_F_AS | WIRE_F_WHOLE |
	      WIRE_F_PROOF | WIRE_F_APART | WIRE_F_TICKET | WIRE_F_SEAL |
	      WIRE_F_JOB | WIRE_F_CAPS | WIRE_F_WAITS))
		return "wire_hdr.flags: unknown bits";
	if (flags & WIRE_F_WAITS && le16toh(hdr->op) == WIRE_HELLO)
		return "wire_hdr.flags: WAITS is not for HELLO";
	return why_request(hdr);
}

static int take_hdr(struct wire_cursor *c)
{
	const struct wire_hdr *hdr = (const void *)c->at;
	int rc = wire_check_magic(hdr, c->left, &c->why);

	if (rc)
		return rc;
	if (c->left < sizeof(*hdr))
		return reject_msg(c, "length: shorter than the header");
	c->why = why_hdr(hdr, c->left);
	if (c->why)
		return -EPROTO;
	c->msg->hdr = hdr;
	skip_bytes(c, sizeof(*hdr));
	return 0;
}

/*
 * Finds the form of this message, after its header was checked.  *form NULL: the message is a reply
 * that consists of its status only.
 */
static int find_form(struct wire_cursor *c, const struct wire_form **form)
{
	const struct wire_hdr *hdr = c->msg->hdr;
	const struct wire_op_desc *desc = wire_op_find(le16toh(hdr->op));
	uint32_t status = le32toh(hdr->status);

	if (!desc) {
		c->why = "wire_hdr.op: unknown operation";
		return -ENOSYS;
	}
	if (!(le16toh(hdr->flags) & WIRE_F_REPLY))
		*form = desc->req;
	else if (status == 0)
		*form = desc->rep->optional && !c->left ? NULL : desc->rep;
	else if (status == WIRE_ENOTLEADER && le16toh(hdr->op) == WIRE_HELLO)
		*form = &wire_leader_form;
	else if (status != WIRE_REDIRECT)
		*form = NULL;
	else if (desc->redirect)
		*form = &wire_redirect_form;
	else
		return reject_msg(c, "wire_hdr.status: no path to redirect");
	return 0;
}

static bool field_ok(const void *body, const struct wire_field *f)
{
	switch (f->kind) {
	case WIRE_FK_BITS:
		return !(read_le32(body, f->off) & ~f->limit);
	case WIRE_FK_MAX:
		return read_le32(body, f->off) <= f->limit;
	case WIRE_FK_MAX64:
		return read_le64(body, f->off) <= f->limit;
	case WIRE_FK_ID:
		return read_le64(body, f->off) != 0;
	case WIRE_FK_NONE:
		break;
	}
	return false;
}

/*
 * Returns the length of the body.  It is shorter in messages of the previous version, which lack
 * the fields at its end.
 */
static size_t body_size(const struct wire_cursor *c,
			const struct wire_form *form)
{
	return form->least && c->left < form->size ? form->least : form->size;
}

static int take_body(struct wire_cursor *c, const struct wire_form *form)
{
	const struct wire_field *f;
	size_t size = body_size(c, form);

	if (c->left < size)
		return reject_msg(c, "length: shorter than the body");
	for (f = form->fields; f->kind; f++) {
		if (f->off < size && !field_ok(c->at, f))
			return reject_msg(c, f->why);
	}
	c->msg->body = c->at;
	c->msg->body_len = size;
	skip_bytes(c, size);
	return 0;
}

static int take_padding(struct wire_cursor *c, const struct wire_item *item,
			size_t pad)
{
	if (item->kind == WIRE_IK_DATA && c->left == 0)
		return 0;
	if (c->left < pad)
		return reject_msg(c, "length: shorter than the padding");
	for (size_t i = 0; i < pad; i++) {
		if (c->at[i])
			return reject_msg(c, "padding: not zero");
	}
	skip_bytes(c, pad);
	return 0;
}

static int take_item(struct wire_cursor *c, const struct wire_item *item,
		     struct wire_tail *tail)
{
	size_t count = read_le32(c->msg->body, item->off), len;

	if (count > item->max)
		return reject_msg(c, item->why);
	len = count * item->elem;
	if (c->left < len)
		return reject_msg(c, item->why);
	if (item->kind == WIRE_IK_STRING && memchr(c->at, '\0', len))
		return reject_msg(c, "string: holds a NUL");
	tail->ptr = c->at;
	tail->len = len;
	skip_bytes(c, len);
	return take_padding(c, item, wire_pad(len) - len);
}

static int take_tail(struct wire_cursor *c, const struct wire_form *form)
{
	int rc;

	for (size_t i = 0; form->items[i].kind; i++) {
		rc = take_item(c, &form->items[i], &c->msg->tail[i]);
		if (rc)
			return rc;
	}
	return 0;
}

static const struct wire_item array_item = { .kind = WIRE_IK_ARRAY };

/* Checks the wire_as, which follows everything else of the operation. */
static int take_as(struct wire_cursor *c)
{
	const struct wire_as *as = (const void *)c->at;
	size_t len;

	if (!wire_op_find(le16toh(c->msg->hdr->op))->redirect)
		return reject_msg(c, "wire_hdr.flags: AS is for paths");
	if (c->left < sizeof(*as) || as->zero)
		return reject_msg(c, "wire_as: too short, or zero is not");
	if (le32toh(as->ngroups) > WIRE_GROUPS_MAX)
		return reject_msg(c, "wire_as.ngroups");
	len = wire_pad(sizeof(*as) + le32toh(as->ngroups) * sizeof(le32));
	if (c->left != len)
		return reject_msg(c, "wire_as: not the end of the message");
	if (le32toh(as->ngroups) % 2 &&
	    read_le32(as + 1, le32toh(as->ngroups) * sizeof(le32)))
		return reject_msg(c, "padding: not zero");
	c->msg->as = as;
	c->msg->groups = (const void *)(as + 1);
	c->at += len;
	c->left = 0;
	return 0;
}

/* A request has only the flag. */
static int take_apart(struct wire_cursor *c)
{
	const struct wire_apart *apart = (const void *)c->at;

	if (le16toh(c->msg->hdr->op) != WIRE_HELLO)
		return reject_msg(c, "wire_hdr.flags: APART is for HELLO");
	if (!(le16toh(c->msg->hdr->flags) & WIRE_F_REPLY))
		return 0;
	if (c->left < sizeof(*apart))
		return reject_msg(c, "length: shorter than wire_apart");
	if (apart->zero)
		return reject_msg(c, "wire_apart.zero: reserved, not zero");
	c->msg->apart = apart;
	skip_bytes(c, sizeof(*apart));
	return 0;
}

static int take_seal(struct wire_cursor *c)
{
	const struct wire_seal *seal = (const void *)c->at;
	uint16_t flags = le16toh(c->msg->hdr->flags);

	if (!(flags & WIRE_F_PROOF))
		return reject_msg(c, "wire_hdr.flags: SEAL without PROOF");
	if (c->left < sizeof(*seal) || seal->zero)
		return reject_msg(c, "wire_seal: too short, or zero is not");
	if (le32toh(seal->mode) >= SEAL_MODES ||
	    (flags & WIRE_F_REPLY && !seal->mode))
		return reject_msg(
			c, "wire_seal.mode: unknown, or none in a reply");
	c->msg->seal = seal;
	skip_bytes(c, sizeof(*seal));
	return 0;
}

static int take_job(struct wire_cursor *c)
{
	const struct wire_job *job = (const void *)c->at;
	size_t len, pad;

	if (le16toh(c->msg->hdr->op) != WIRE_HELLO)
		return reject_msg(c, "wire_hdr.flags: JOB is for HELLO");
	if (c->left < sizeof(*job) || job->zero)
		return reject_msg(c, "wire_job: too short, or zero is not");
	len = le32toh(job->len);
	pad = wire_pad(len);
	if (!len || len > WIRE_JOB_MAX || c->left - sizeof(*job) < pad)
		return reject_msg(c, "wire_job.len: zero, or too large");
	if (!wire_job_ok(job + 1, len))
		return reject_msg(c, "wire_job: unprintable characters");
	c->msg->job = (const char *)(job + 1);
	c->msg->job_len = len;
	skip_bytes(c, sizeof(*job) + len);
	return take_padding(c, &array_item, pad - len);
}

static int take_ticket(struct wire_cursor *c)
{
	const struct wire_shown *shown = (const void *)c->at;
	size_t len, pad;

	if (!(le16toh(c->msg->hdr->flags) & WIRE_F_PROOF))
		return reject_msg(c, "wire_hdr.flags: TICKET without PROOF");
	if (c->left < sizeof(*shown) || shown->zero)
		return reject_msg(c, "wire_shown: too short, or zero is not");
	len = le32toh(shown->len);
	if (!len || len > WIRE_TICKET_MAX)
		return reject_msg(c, "wire_shown.len: zero, or too large");
	pad = wire_pad(len);
	if (c->left - sizeof(*shown) < pad)
		return reject_msg(c, "length: shorter than the ticket");
	c->msg->ticket = shown + 1;
	c->msg->ticket_len = len;
	skip_bytes(c, sizeof(*shown) + len);
	return take_padding(c, &array_item, pad - len);
}

static int take_proof(struct wire_cursor *c)
{
	const struct wire_proof *proof = (const void *)c->at;

	if (le16toh(c->msg->hdr->op) != WIRE_HELLO)
		return reject_msg(c, "wire_hdr.flags: PROOF is for HELLO");
	if (c->left < sizeof(*proof))
		return reject_msg(c, "length: shorter than wire_proof");
	if (proof->zero)
		return reject_msg(c, "wire_proof.zero: reserved, not zero");
	c->msg->proof = proof;
	skip_bytes(c, sizeof(*proof));
	return 0;
}

static bool has_caps(const struct wire_hdr *hdr)
{
	unsigned int op = le16toh(hdr->op);
	struct wire_need need[WIRE_NEEDS_MAX];

	if (op == WIRE_RENEW)
		return true;
	if (le16toh(hdr->flags) & WIRE_F_REPLY)
		return op == WIRE_OPEN || op == WIRE_REDEEM;
	return wire_needs(op, hdr + 1, need);
}

static int take_caps(struct wire_cursor *c)
{
	const struct wire_hdr *hdr = c->msg->hdr;
	const struct wire_caps *caps = (const void *)c->at;
	uint32_t n;

	if (!c->msg->body || !has_caps(hdr))
		return reject_msg(c, "wire_hdr.flags: CAPS where none belong");
	if (c->left < sizeof(*caps))
		return reject_msg(c, "length: shorter than wire_caps");
	n = le32toh(caps->n);
	if (!n || n > WIRE_CAPS_MAX)
		return reject_msg(c, "wire_caps.n: zero, or too many");
	if (caps->life && !(le16toh(hdr->flags) & WIRE_F_REPLY))
		return reject_msg(c, "wire_caps.life: in a request");
	skip_bytes(c, sizeof(*caps));
	if (c->left < n * WIRE_CAP_LEN)
		return reject_msg(c, "length: shorter than the capabilities");
	skip_bytes(c, n * WIRE_CAP_LEN);
	c->msg->caps = caps;
	return 0;
}

static int take_check(struct wire_cursor *c, const struct wire_form *form)
{
	c->why = form->check(c->msg);
	return c->why ? -EPROTO : 0;
}

uint64_t wire_data_len(const struct wire_msg *msg)
{
	unsigned int op = le16toh(msg->hdr->op);
	const struct wire_io *io = msg->body;

	if (!(le16toh(msg->hdr->flags) & WIRE_F_DATA) || !wire_op_writes(op) ||
	    !io->nmem)
		return 0;
	return le64toh(io->total);
}

static bool has_place(const struct wire_msg *msg)
{
	unsigned int op = le16toh(msg->hdr->op);
	const struct wire_io *io = msg->body;

	return (op == WIRE_READ || op == WIRE_READ_LIST) && io->nmem;
}

/* Checks flags that the operation does not have, and announced data that is impossible. */
static int take_data(struct wire_cursor *c)
{
	const struct wire_hdr *hdr = c->msg->hdr;
	uint64_t len = wire_data_len(c->msg);

	if (le16toh(hdr->flags) & (WIRE_F_PLACE | WIRE_F_WHOLE) &&
	    !has_place(c->msg))
		return reject_msg(c, "wire_hdr.flags: no such place");
	if (le16toh(hdr->flags) & WIRE_F_PLACE &&
	    le16toh(hdr->flags) & WIRE_F_WHOLE)
		return reject_msg(c, "wire_hdr.flags: PLACE and WHOLE");
	if (le16toh(hdr->flags) & WIRE_F_CARRY &&
	    le16toh(hdr->op) != WIRE_HELLO)
		return reject_msg(c, "wire_hdr.flags: CARRY is for HELLO");
	if (le16toh(hdr->flags) & WIRE_F_STATE_LOST &&
	    !(le16toh(hdr->flags) & WIRE_F_REPLAY))
		return reject_msg(c,
				  "wire_hdr.flags: STATE_LOST without REPLAY");
	if (le16toh(hdr->flags) & WIRE_F_UNSURE && le16toh(hdr->op) != WIRE_BYE)
		return reject_msg(c, "wire_hdr.flags: UNSURE is for BYE");
	if (!(le16toh(hdr->flags) & WIRE_F_DATA))
		return 0;
	if (!len || len > WIRE_INLINE_MAX || le32toh(hdr->len) % 8)
		return reject_msg(c, "wire_hdr.flags: no such data");
	return 0;
}

static int parse_msg(struct wire_cursor *c)
{
	const struct wire_form *form;
	int rc = take_hdr(c);

	if (!rc)
		rc = find_form(c, &form);
	if (!rc && form)
		rc = take_body(c, form);
	if (!rc && form)
		rc = take_tail(c, form);
	if (!rc && le16toh(c->msg->hdr->flags) & WIRE_F_AS)
		rc = take_as(c);
	if (!rc && le16toh(c->msg->hdr->flags) & WIRE_F_CAPS)
		rc = take_caps(c);
	if (!rc && le16toh(c->msg->hdr->flags) & WIRE_F_APART)
		rc = take_apart(c);
	if (!rc && le16toh(c->msg->hdr->flags) & WIRE_F_JOB)
		rc = take_job(c);
	if (!rc && le16toh(c->msg->hdr->flags) & WIRE_F_SEAL)
		rc = take_seal(c);
	if (!rc && le16toh(c->msg->hdr->flags) & WIRE_F_TICKET)
		rc = take_ticket(c);
	if (!rc && le16toh(c->msg->hdr->flags) & WIRE_F_PROOF)
		rc = take_proof(c);
	if (!rc && c->left)
		rc = reject_msg(c, "length: bytes after the message");
	if (!rc && form && form->check)
		rc = take_check(c, form);
	if (!rc)
		rc = take_data(c);
	return rc;
}

int wire_parse(const void *buf, size_t len, struct wire_msg *msg,
	       const char **why)
{
	struct wire_msg m = { 0 };
	struct wire_cursor c = { .msg = &m, .at = buf, .left = len };
	int rc;

	assert(wire_aligned(buf));
	rc = parse_msg(&c);
	if (rc == 0 || rc == -ENOSYS)
		*msg = m;
	if (rc && why)
		*why = c.why;
	return rc;
}
