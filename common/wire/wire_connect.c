/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_connect.c - checks the private data of a connection.  The data may be unaligned and, over
 * rdma_cm, longer than what was sent.
 */
#include <errno.h>
#include <string.h>

#include "common/wire/wire_form.h"

static int report_cause(const char *cause, const char **why)
{
	if (!cause)
		return 0;
	if (why)
		*why = cause;
	return -EPROTO;
}

/* Copies the structure, if it is of this protocol version. */
static int copy_checked(void *dst, size_t size, const void *buf, size_t len,
			const char **why)
{
	int rc = wire_check_magic(buf, len, why);

	if (rc)
		return rc;
	if (len < size)
		return report_cause("length: shorter than the structure", why);
	memcpy(dst, buf, size);
	return 0;
}

static const char *why_connect(const struct wire_connect *c)
{
	uint16_t role = le16toh(c->role);

	if (role < WIRE_ROLE_CLIENT || role > WIRE_ROLE_IOD)
		return "wire_connect.role: unknown";
	if (c->session == 0)
		return "wire_connect.session: zero";
	if (le32toh(c->reply_max) < sizeof(struct wire_hdr))
		return "wire_connect.reply_max: smaller than a header";
	return NULL;
}

static const char *why_accept(const struct wire_accept *a)
{
	if (a->status)
		return NULL;
	if (a->credits == 0 || le32toh(a->credits) > UINT16_MAX)
		return "wire_accept.credits: not in 1..65535";
	if (le32toh(a->request_max) < sizeof(struct wire_hdr))
		return "wire_accept.request_max: smaller than a header";
	return NULL;
}

int wire_check_connect(const void *buf, size_t len, const char **why)
{
	struct wire_connect c;
	int rc = copy_checked(&c, sizeof(c), buf, len, why);

	return rc ? rc : report_cause(why_connect(&c), why);
}

int wire_check_accept(const void *buf, size_t len, const char **why)
{
	struct wire_accept a;
	int rc = copy_checked(&a, sizeof(a), buf, len, why);

	return rc ? rc : report_cause(why_accept(&a), why);
}

void wire_take_hail(const void *buf, size_t len, size_t fixed,
		    struct wire_hail *hail)
{
	*hail = (struct wire_hail){ 0 };
	if (len >= fixed + sizeof(*hail))
		memcpy(hail, (const uint8_t *)buf + fixed, sizeof(*hail));
}
