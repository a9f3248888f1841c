/* SPDX-License-Identifier: BSD-2-Clause */
/* seal.c - see seal_int.h. */
#include <errno.h>
#include <string.h>

#include "common/trust/seal_int.h"

void seal_begin(struct seal_head *head, const struct token_limits *bounds)
{
	*head = (struct seal_head){
		.version = htole32(SEAL_VERSION),
		.fsid = htole64(bounds->fsid),
		.session = htole64(bounds->session),
		.term = htole64(bounds->term),
		.expiry = htole64(bounds->expiry),
	};
}

struct mac_field seal_covered(const void *sealed, size_t len)
{
	const size_t from = offsetof(struct seal_head, version);

	return (struct mac_field){ (const uint8_t *)sealed + from, len - from };
}

void seal_close(struct keyring *ring, const char *label, struct seal_head *head,
		size_t len)
{
	struct mac_field field = seal_covered(head, len);
	uint32_t id;

	keyring_mac(ring, label, &field, 1, &id, (uint8_t *)head + len);
	head->key = htole32(id);
}

int seal_bounds(const struct seal_head *head, struct token_limits *bounds)
{
	if (le32toh(head->version) != SEAL_VERSION)
		return -EBADMSG;
	*bounds = (struct token_limits){
		.fsid = le64toh(head->fsid),
		.session = le64toh(head->session),
		.term = le64toh(head->term),
		.expiry = le64toh(head->expiry),
	};
	return 0;
}

int seal_check(struct keyring *ring, const char *label, const void *sealed,
	       size_t len, struct token_limits *bounds)
{
	struct mac_field field;
	struct seal_head head;
	struct token_limits b;
	int rc;

	if (len < sizeof(head) + MAC_LEN)
		return -EBADMSG;
	memcpy(&head, sealed, sizeof(head));
	rc = seal_bounds(&head, &b);
	if (rc)
		return rc;
	field = seal_covered(sealed, len - MAC_LEN);
	rc = keyring_check(ring, le32toh(head.key), label, &field, 1,
			   (const uint8_t *)sealed + len - MAC_LEN);
	if (!rc)
		*bounds = b;
	return rc;
}
