/* SPDX-License-Identifier: BSD-2-Clause */
/* mount.c - MOUNT: the properties of the file system that a client needs. */
#include <errno.h>
#include <string.h>

#include "mgr/op/ops.h"

/* Writes all addresses to buf, each followed by a NUL.  -EMSGSIZE: too many for a message. */
static int list_iods(const struct mgr *mgr, char *buf, size_t cap, size_t *len)
{
	char uri[ADDR_STRLEN];
	size_t at = 0, n;

	for (uint32_t i = 0; i < mgr->conf.niods; i++) {
		addr_format(&mgr->conf.iod[i], uri, sizeof(uri));
		n = strlen(uri) + 1;
		if (n > cap - at)
			return -EMSGSIZE;
		memcpy(buf + at, uri, n);
		at += n;
	}
	*len = at;
	return 0;
}

int op_mount(struct op *op)
{
	struct mgr *mgr = op->mgr;
	char uris[WIRE_URIS_MAX];
	struct wire_mount_rep rep;
	size_t len;
	int rc;

	rc = list_iods(mgr, uris, sizeof(uris), &len);
	if (rc)
		return rc;
	rep = (struct wire_mount_rep){
		.fsid = htole64(mgr->conf.fsid),
		.root = handle_to_wire(mgr->st, mgr->ns.root),
		.niods = htole32(mgr->conf.niods),
		.ssize = htole32(mgr->conf.ssize),
		.pcount = htole32(mgr->conf.pcount),
		.uris_len = htole32((uint32_t)len),
	};
	wire_put(op->out, &rep, sizeof(rep));
	wire_put(op->out, uris, len);
	return 0;
}
