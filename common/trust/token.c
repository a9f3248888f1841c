/* SPDX-License-Identifier: BSD-2-Clause */
/* token.c - see token.h and token_int.h. */
#include <errno.h>
#include <string.h>

#include "common/trust/token_int.h"

/* ---- format ---- */

void token_begin(struct token_head *head, const struct token_limits *limits)
{
	*head = (struct token_head){
		.version = htole32(TOKEN_VERSION),
		.fsid = htole64(limits->fsid),
		.session = htole64(limits->session),
		.term = htole64(limits->term),
		.expiry = htole64(limits->expiry),
	};
}

struct mac_field token_covered(const void *sealed, size_t len)
{
	const size_t from = offsetof(struct token_head, version);

	return (struct mac_field){ (const uint8_t *)sealed + from, len - from };
}

void token_close(struct keyring *ring, const char *label,
		 struct token_head *head, size_t len)
{
	struct mac_field field = token_covered(head, len);
	uint32_t id;

	keyring_mac(ring, label, &field, 1, &id, (uint8_t *)head + len);
	head->key = htole32(id);
}

int token_limits_decode(const struct token_head *head,
			struct token_limits *limits)
{
	if (le32toh(head->version) != TOKEN_VERSION)
		return -EBADMSG;
	*limits = (struct token_limits){
		.fsid = le64toh(head->fsid),
		.session = le64toh(head->session),
		.term = le64toh(head->term),
		.expiry = le64toh(head->expiry),
	};
	return 0;
}

int token_check(struct keyring *ring, const char *label, const void *sealed,
		size_t len, struct token_limits *limits)
{
	struct mac_field field;
	struct token_head head;
	struct token_limits b;
	int rc;

	if (len < sizeof(head) + MAC_LEN)
		return -EBADMSG;
	memcpy(&head, sealed, sizeof(head));
	rc = token_limits_decode(&head, &b);
	if (rc)
		return rc;
	field = token_covered(sealed, len - MAC_LEN);
	rc = keyring_check(ring, le32toh(head.key), label, &field, 1,
			   (const uint8_t *)sealed + len - MAC_LEN);
	if (!rc)
		*limits = b;
	return rc;
}

/* ---- limits ---- */

int token_limits_check(const struct token_limits *limits,
		       const struct token_context *here)
{
	if (limits->fsid != here->fsid)
		return -ENXIO;
	if (limits->session != here->session)
		return -EPERM;
	if (limits->term < here->oldest || limits->term > here->newest)
		return -ESTALE;
	return here->now < limits->expiry ? 0 : -EKEYEXPIRED;
}
