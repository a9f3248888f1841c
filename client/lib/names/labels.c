/* SPDX-License-Identifier: BSD-2-Clause */
/* labels.c - LABELS: what users and jobs have asked a server for. */
#include <string.h>

#include "client/lib/session/ask.h"
#include "client/lib/names/store.h"

_Static_assert(STORE_LABELS == WIRE_LABELS_MAX, "store.h");
_Static_assert(PVFS_LABEL_DIRECT == WIRE_LB_TOLD, "pvfs.h");
_Static_assert(PVFS_LABEL_OTHERS == WIRE_LB_OTHERS, "pvfs.h");

static void take_label(const struct wire_label *from, struct pvfs_label *to)
{
	*to = (struct pvfs_label){
		.uid = le32toh(from->uid),
		.flags = le32toh(from->flags),
		.requests = le64toh(from->requests),
		.errors = le64toh(from->errors),
		.bytes_in = le64toh(from->bytes_in),
		.bytes_out = le64toh(from->bytes_out),
		.ns = le64toh(from->ns),
	};
	memcpy(to->job, from->job, sizeof(from->job));
}

static int take_labels(void *arg, const struct wire_msg *reply)
{
	const struct wire_labels_rep *rep = reply->body;
	const struct wire_label *label = reply->tail[0].ptr;
	struct store_labels *part = arg;

	part->next = le32toh(rep->next);
	part->n = (int)le32toh(rep->n);
	for (int i = 0; i < part->n; i++)
		take_label(&label[i], &part->label[i]);
	return 0;
}

int store_labels(struct session *s, struct rpc_peer *peer, uint32_t from,
		 struct store_labels *part)
{
	const struct wire_labels body = { .from = htole32(from) };
	struct ask c;
	int rc = store_counts(s, peer);

	if (rc)
		return rc;
	ask_begin(&c, s, peer);
	ask_put(&c, &body, sizeof(body));
	return ask_run(&c, WIRE_LABELS, take_labels, part);
}
