/* SPDX-License-Identifier: BSD-2-Clause */
/* mgrc.c - a minimal client of one manager, for tests. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrc.h"

void must_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
	abort();
}

static void on_fresh(void *arg, struct rpc_peer *peer)
{
	struct mgrc *c = arg;

	c->fresh++;
}

static void on_met(void *arg, struct rpc_peer *peer, uint64_t boot)
{
	struct mgrc *c = arg;

	c->boot = boot;
}

uint64_t mgrc_fsid(void)
{
	return UINT64_C(0xc0ffee) << 32 | (uint32_t)getpid();
}

void mgrc_open(struct mgrc *c, const struct addr *addr, uint64_t session)
{
	struct tp_dev_attr dev_attr = { 0 };
	struct rpc_ctx_attr ctx_attr = { 0 };
	struct rpc_peer_attr attr = { .addr = *addr,
				      .name = "mgr",
				      .role = c->role ? c->role
						      : WIRE_ROLE_CLIENT,
				      .fsid = c->fsid ? c->fsid : mgrc_fsid(),
				      .caps = c->caps,
				      .prover = c->prover,
				      .server = c->server,
				      .on_new_session = on_fresh,
				      .on_new_process = on_met,
				      .arg = c };

	attr.features = c->features;
	*c = (struct mgrc){ .cred = c->cred, .features = c->features };
	if (!c->cred.name[0])
		strcpy(c->cred.name, "test");
	c->timeout_ms = 20000;
	c->session = session;
	while (!c->session)
		must(getrandom(&c->session, 8, 0) == 8);
	attr.session = c->session;
	attr.cred = &c->cred;
	must(!tp_dev_open(addr->scheme, &dev_attr, &c->dev));
	ctx_attr.dev = c->dev;
	must(!rpc_ctx_open(&ctx_attr, &c->ctx));
	must(!rpc_peer_open(c->ctx, &attr, &c->peer));
	c->arena = calloc(1, MGRC_ARENA);
	must(!tp_mr_reg(c->dev, c->arena, MGRC_ARENA,
			TP_LOCAL_WRITE | TP_REMOTE_WRITE, &c->mr));
}

void mgrc_close(struct mgrc *c, bool bye)
{
	rpc_peer_close(c->peer, bye);
	rpc_ctx_progress(c->ctx, clock_after_ms(1));
	rpc_ctx_close(c->ctx);
	tp_mr_dereg(c->mr);
	tp_dev_close(c->dev);
	free(c->arena);
}

size_t mgrc_build(void *buf, unsigned int op, const void *body, size_t len,
		  const struct mgrc_item *tail, unsigned int ntail)
{
	struct wire_out out;
	int n;

	wire_begin(&out, buf, WIRE_BODY_MAX + sizeof(struct wire_hdr));
	if (len)
		wire_put(&out, body, len);
	for (unsigned int i = 0; i < ntail; i++)
		if (tail[i].len)
			wire_put(&out, tail[i].ptr, tail[i].len);
	n = wire_end(&out, op, 0, 0);
	must(n > 0);
	return (size_t)n;
}

static void set_flag(struct wire_hdr *hdr, unsigned int flag)
{
	hdr->flags |= htole16((uint16_t)flag);
}

/* Appends the user to the message, without groups. */
static size_t put_as(void *buf, size_t len, const struct wire_as *as)
{
	struct wire_hdr *hdr = buf;

	memcpy((uint8_t *)buf + len, as, sizeof(*as));
	hdr->len = htole32((uint32_t)(len + sizeof(*as)));
	set_flag(hdr, WIRE_F_AS);
	return len + sizeof(*as);
}

struct wait {
	struct mgrc *c;
	int status;
	bool over;
};

static void call_done(struct rpc_call *call)
{
	struct wait *w = call->arg;
	struct mgrc *c = w->c;

	w->status = call->status;
	w->over = true;
	c->tail_len = 0;
	c->capped = false;
	if (call->status < 0)
		return;
	must(call->reply.body_len <= sizeof(c->body));
	memcpy(c->body, call->reply.body, call->reply.body_len);
	c->tail_len = call->reply.tail[0].len;
	if (c->tail_len)
		memcpy(c->tail, call->reply.tail[0].ptr, c->tail_len);
	c->capped = call->reply.caps;
	if (c->capped)
		memcpy(c->cap, call->reply.caps + 1, sizeof(c->cap));
}

int mgrc_call(struct mgrc *c, unsigned int op, const void *body, size_t len,
	      const struct mgrc_item *tail, unsigned int ntail)
{
	uint64_t buf[(WIRE_BODY_MAX + sizeof(struct wire_hdr)) / 8];
	struct wait w = { .c = c };
	struct rpc_call call = { .msg = buf,
				 .deadline = clock_after_ms(c->timeout_ms),
				 .done = call_done,
				 .arg = &w };

	call.msg_len = mgrc_build(buf, op, body, len, tail, ntail);
	if (c->shows)
		set_flag((struct wire_hdr *)buf, WIRE_F_CAPS);
	if (c->as)
		call.msg_len = put_as(buf, call.msg_len, c->as);
	rpc_call_start(c->peer, &call);
	while (!w.over)
		rpc_ctx_progress(c->ctx, call.deadline + 1000000);
	return w.status;
}

static int path_call(struct mgrc *c, unsigned int op, uint64_t dir,
		     const char *path)
{
	struct wire_path body = { .dir = htole64(dir),
				  .path_len = htole32(strlen(path)) };
	struct mgrc_item item = { path, strlen(path) };

	return mgrc_call(c, op, &body, sizeof(body), &item, 1);
}

static int two_call(struct mgrc *c, unsigned int op, const char *a,
		    const char *b)
{
	struct wire_two body = { .path1_len = htole32(strlen(a)),
				 .path2_len = htole32(strlen(b)) };
	struct mgrc_item item[] = { { a, strlen(a) }, { b, strlen(b) } };

	return mgrc_call(c, op, &body, sizeof(body), item, 2);
}

int mgrc_stat(struct mgrc *c, const char *path, struct wire_attr *attr)
{
	int rc = path_call(c, WIRE_GETATTR, 0, path);

	if (!rc && attr)
		memcpy(attr, c->body, sizeof(*attr));
	return rc;
}

struct wire_attr mgrc_stat_ok(struct mgrc *c, const char *path)
{
	struct wire_attr attr;

	must(!mgrc_stat(c, path, &attr));
	return attr;
}

int mgrc_stat_handle(struct mgrc *c, uint64_t handle, struct wire_attr *attr)
{
	int rc = path_call(c, WIRE_GETATTR, handle, "");

	if (!rc)
		memcpy(attr, c->body, sizeof(*attr));
	return rc;
}

int mgrc_mkdir(struct mgrc *c, const char *path)
{
	struct wire_mkdir body = { .mode = htole32(0755),
				   .path_len = htole32(strlen(path)) };
	struct mgrc_item item = { path, strlen(path) };

	return mgrc_call(c, WIRE_MKDIR, &body, sizeof(body), &item, 1);
}

int mgrc_rmdir(struct mgrc *c, const char *path)
{
	return path_call(c, WIRE_RMDIR, 0, path);
}

int mgrc_unlink(struct mgrc *c, const char *path)
{
	return path_call(c, WIRE_UNLINK, 0, path);
}

int mgrc_readlink(struct mgrc *c, const char *path)
{
	return path_call(c, WIRE_READLINK, 0, path);
}

int mgrc_rename(struct mgrc *c, const char *from, const char *to)
{
	return two_call(c, WIRE_RENAME, from, to);
}

int mgrc_symlink(struct mgrc *c, const char *target, const char *path)
{
	return two_call(c, WIRE_SYMLINK, target, path);
}

int mgrc_open_file(struct mgrc *c, const char *path, uint32_t flags,
		   struct mgrc_file *f)
{
	struct wire_open body = { .flags = htole32(flags),
				  .mode = htole32(0644),
				  .dist = { UINT32_MAX, UINT32_MAX, UINT32_MAX,
					    0 },
				  .path_len = htole32(strlen(path)) };
	struct mgrc_item item = { path, strlen(path) };
	struct wire_open_rep rep;
	int rc;

	rc = mgrc_call(c, WIRE_OPEN, &body, sizeof(body), &item, 1);
	if (rc)
		return rc;
	memcpy(&rep, c->body, sizeof(rep));
	f->attr = rep.attr;
	f->handle = le64toh(rep.attr.handle);
	f->open = le64toh(rep.open);
	return 0;
}

int mgrc_release(struct mgrc *c, const struct mgrc_file *f, uint32_t flags,
		 uint64_t end)
{
	struct wire_release body = { .handle = htole64(f->handle),
				     .open = htole64(f->open),
				     .end = htole64(end),
				     .mtime = htole64((uint64_t)clock_wall()),
				     .flags = htole32(flags) };

	return mgrc_call(c, WIRE_RELEASE, &body, sizeof(body), NULL, 0);
}

int mgrc_declare(struct mgrc *c, const struct mgrc_file *f, unsigned int n,
		 bool all)
{
	struct wire_declare body = { .boot = htole64(c->boot),
				     .flags = htole32(all ? WIRE_DC_ALL : 0),
				     .n = htole32(n) };
	struct wire_hold hold[WIRE_HOLD_MAX];
	struct mgrc_item tail = { hold, n * sizeof(hold[0]) };

	must(n <= WIRE_HOLD_MAX);
	for (unsigned int i = 0; i < n; i++)
		hold[i] = (struct wire_hold){ htole64(f[i].handle),
					      htole64(f[i].open) };
	return mgrc_call(c, WIRE_DECLARE, &body, sizeof(body), &tail, 1);
}

int mgrc_make(struct mgrc *c, const char *path, uint64_t end)
{
	struct mgrc_file f;
	int rc;

	rc = mgrc_open_file(c, path, WIRE_O_CREAT | WIRE_O_EXCL | WIRE_O_WRITE,
			    &f);
	if (rc)
		return rc;
	return mgrc_release(c, &f, end ? WIRE_R_WROTE | WIRE_R_MTIME : 0, end);
}

int mgrc_truncate(struct mgrc *c, const char *path, uint64_t size)
{
	struct wire_truncate body = { .size = htole64(size),
				      .path_len = htole32(strlen(path)) };
	struct mgrc_item item = { path, strlen(path) };

	return mgrc_call(c, WIRE_TRUNCATE, &body, sizeof(body), &item, 1);
}

int mgrc_append(struct mgrc *c, const struct mgrc_file *f, uint64_t len,
		uint64_t *offset)
{
	struct wire_append body = { .handle = htole64(f->handle),
				    .open = htole64(f->open),
				    .len = htole64(len) };
	int rc = mgrc_call(c, WIRE_APPEND, &body, sizeof(body), NULL, 0);

	if (!rc)
		*offset = le64toh(c->body[0]);
	return rc;
}

int mgrc_readdir(struct mgrc *c, uint64_t dir, uint64_t cookie, uint32_t len,
		 struct wire_readdir_rep *rep)
{
	struct wire_readdir body = {
		.dir = htole64(dir),
		.cookie = htole64(cookie),
		.mem = { .addr = htole64((uintptr_t)c->arena),
			 .len = htole32(len),
			 .rkey = htole32(c->mr->rkey) },
	};
	int rc = mgrc_call(c, WIRE_READDIR, &body, sizeof(body), NULL, 0);

	if (!rc)
		memcpy(rep, c->body, sizeof(*rep));
	return rc;
}
