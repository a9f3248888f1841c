/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_list.c - READDIR and READDIRPLUS. */
#include <errno.h>
#include <sys/uio.h>

#include "client/lib/names/mgr_int.h"

static int take_listing(void *arg, const struct wire_msg *reply)
{
	const struct wire_readdir_rep *rep = reply->body;
	struct mgr_listing *l = arg;

	*l = (struct mgr_listing){
		.bytes = le32toh(rep->bytes),
		.count = le32toh(rep->count),
		.eof = le32toh(rep->eof),
	};
	return 0;
}

static int list_call(struct session *s, enum wire_op op, uint64_t dir,
		     uint64_t cookie, struct iovec into,
		     struct mgr_listing *listing)
{
	uint32_t len = (uint32_t)into.iov_len;
	struct wire_readdir body = {
		.dir = htole64(dir),
		.cookie = htole64(cookie),
		.mem = { .addr = htole64((uintptr_t)into.iov_base),
			 .len = htole32(len) },
	};
	struct rail_mem mem;
	struct server_call c;
	int rc;

	rail_mem_init(&mem, into.iov_base, len, TP_REMOTE_WRITE);
	server_call_begin(&c, s, s->mgr);
	c.mem = &mem;
	c.mem_at = (unsigned int)(c.out.len +
				  offsetof(struct wire_readdir, mem));
	server_call_put(&c, &body, sizeof(body));
	rc = server_call_run(&c, op, take_listing, listing);
	rail_mem_fini(&mem);
	return !rc && listing->bytes > len ? -EPROTO : rc;
}

int mgr_readdir(struct session *s, uint64_t dir, uint64_t cookie, void *buf,
		uint32_t len, struct mgr_listing *listing)
{
	return list_call(s, WIRE_READDIR, dir, cookie,
			 (struct iovec){ buf, len }, listing);
}

int mgr_readdirplus(struct session *s, uint64_t dir, uint64_t cookie, void *buf,
		    uint32_t len, struct mgr_listing *listing)
{
	return list_call(s, WIRE_READDIRPLUS, dir, cookie,
			 (struct iovec){ buf, len }, listing);
}

static int take_entry(struct session *s, const struct wire_direntplus *d,
		      struct mgr_entry *e)
{
	struct mgr_attr_arg arg = { s, &e->attr };

	*e = (struct mgr_entry){ .name = (const char *)(d + 1),
				 .handle = le64toh(d->ent.handle),
				 .cookie = le64toh(d->ent.cookie),
				 .mode = le32toh(d->ent.mode),
				 .known = d->attr.handle };
	return e->known ? mgr_take_attr(&arg, &d->attr) : 0;
}

int mgr_next_entry(struct session *s, const struct mgr_listing *l,
		   const void *buf, uint32_t *at, struct mgr_entry *e)
{
	const struct wire_direntplus *d = (const void *)((const char *)buf +
							 *at);
	int rc;

	if (*at == l->bytes)
		return 0;
	if (!wire_dirent_ok(&d->ent, l->bytes - *at, sizeof(*d))) {
		log_error(s->log, "%s: protocol error in a directory's entries",
			  rpc_peer_name(s->mgr));
		return -EPROTO;
	}
	rc = take_entry(s, d, e);
	if (rc)
		return rc;
	*at += le16toh(d->ent.reclen);
	return 1;
}
