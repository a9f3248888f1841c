/* SPDX-License-Identifier: BSD-2-Clause */
/* fakeiod.c - an iod that stores sizes instead of data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "tests/e2e/mgr/fakeiod.h"
#include "tests/e2e/mgr/mgrc.h"

struct fakeobj {
	UT_hash_handle hh;
	struct object_key key;
	uint64_t size;
};

static struct fakeobj *find(struct fakeiod *f, struct object_key key, bool make)
{
	struct fakeobj *o;

	HASH_FIND(hh, f->objects, &key, sizeof(key), o);
	if (o || !make)
		return o;
	o = calloc(1, sizeof(*o));
	must(o);
	o->key = key;
	HASH_ADD(hh, f->objects, key, sizeof(o->key), o);
	return o;
}

/* ---- copysets ---- */

static struct object_key key_of(const struct rpc_req *req, le64 handle)
{
	return (struct object_key){ le64toh(handle),
				    wire_copyset(req->msg.hdr).id };
}

static uint32_t version_of(const struct fakeiod *f, uint32_t id)
{
	for (unsigned int i = 0; i < f->rows.n; i++)
		if (le32toh(f->rows.set[i].id) == id)
			return le32toh(f->rows.set[i].version);
	return 0;
}

static void answer_assign(struct fakeiod *f, struct rpc_req *req)
{
	const struct wire_assign *body = req->msg.body;
	const struct wire_copyset *set = req->msg.tail[0].ptr;
	uint64_t revision = le64toh(body->revision);

	must(f->copies && revision >= f->rows.revision);
	if (revision > f->rows.revision || f->rows.complete) {
		memset(&f->rows, 0, sizeof(f->rows));
		f->rows.revision = revision;
	}
	f->rows.parts++;
	for (uint32_t i = 0; i < le32toh(body->n); i++) {
		must(le16toh(set[i].member[0].iod) == f->index);
		if (version_of(f, le32toh(set[i].id)))
			continue; /* the part was sent again */
		must(f->rows.n < FAKEIOD_ROWS);
		f->rows.set[f->rows.n++] = set[i];
	}
	f->rows.complete = le32toh(body->flags) & WIRE_AS_LAST;
	rpc_reply_status(req, 0);
}

/* Whether it serves the copyset of the request. */
static bool is_served(struct fakeiod *f, const struct rpc_req *req)
{
	struct copyset_ref ref = wire_copyset(req->msg.hdr);

	if (!ref.id)
		return true;
	if (atomic_load(&f->refuse)) {
		atomic_fetch_sub(&f->refuse, 1);
		return false;
	}
	return version_of(f, ref.id) == ref.version;
}

/* ---- operations ---- */

static void answer_getsize(struct fakeiod *f, struct rpc_req *req)
{
	const struct wire_objects *body = req->msg.body;
	const uint64_t *handle = req->msg.tail[0].ptr;
	struct wire_getsize_rep rep = { .n = body->n };
	struct wire_out *out = rpc_reply_begin(req);
	struct wire_objsize sizes[WIRE_HANDLE_MAX];
	struct fakeobj *o;

	memset(sizes, 0, sizeof(sizes));
	f->getsizes++;
	for (uint32_t i = 0; i < le32toh(body->n); i++) {
		o = find(f, key_of(req, handle[i]), false);
		if (!o)
			continue;
		sizes[i].size = htole64(o->size);
		sizes[i].mtime = htole64((uint64_t)clock_wall());
	}
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, sizes, le32toh(body->n) * sizeof(sizes[0]));
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}

static void answer_remove(struct fakeiod *f, struct rpc_req *req)
{
	const struct wire_remove *body = req->msg.body;
	const uint64_t *handle = req->msg.tail[0].ptr;
	const le32 *copyset = req->msg.tail[1].ptr;
	struct fakeobj *o;

	f->remove_calls++;
	for (uint32_t i = 0; i < le32toh(body->n); i++) {
		const struct object_key key = { le64toh(handle[i]),
						body->copysets
							? le32toh(copyset[i])
							: 0 };

		f->removes++;
		o = find(f, key, false);
		if (!o)
			continue;
		HASH_DEL(f->objects, o);
		free(o);
	}
	rpc_reply_status(req, 0);
}

static void answer_resize(struct fakeiod *f, struct rpc_req *req)
{
	const struct wire_resize *body = req->msg.body;
	int fail = atomic_load(&f->fail);

	f->resizes++;
	if (!fail)
		find(f, key_of(req, body->handle), true)->size = le64toh(
			body->size);
	rpc_reply_status(req, -fail);
}

static void answer_fence(struct fakeiod *f, struct rpc_req *req)
{
	const struct wire_fence *body = req->msg.body;

	const le64 *session = req->msg.tail[0].ptr;

	if (atomic_load(&f->fence_fail)) {
		f->fence_tries++;
		rpc_reply_status(req, -atomic_load(&f->fence_fail));
		return;
	}
	f->fence_flags = le32toh(body->flags);
	for (uint32_t i = 0; i < le32toh(body->n); i++) {
		f->fenced[f->fences++ % 64] = le64toh(session[i]);
		rpc_server_fence(f->server, le64toh(session[i]));
	}
	rpc_reply_status(req, 0);
}

static void answer_claim(struct fakeiod *f, struct rpc_req *req)
{
	struct wire_claim_rep rep = { .store = htole64(1),
				      .verdict = htole32(WIRE_OURS) };

	f->claims++;
	f->claimed = true;
	f->term = le64toh(((const struct wire_claim *)req->msg.body)->term);
	wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}

static void answer_lease(struct fakeiod *f, struct rpc_req *req)
{
	const struct wire_lease *body = req->msg.body;

	/* as an iod: the request was sent to the process before */
	if (!f->claimed) {
		rpc_reply_status(req, -EAGAIN);
		return;
	}
	if (!f->leases++)
		f->rows_at_lease = f->rows.complete ? f->rows.n : 0;
	f->until = le64toh(body->until);
	f->fences_at_lease = f->fences;
	rpc_reply_status(req, 0);
}

static void answer(struct fakeiod *f, struct rpc_req *req)
{
	if (!is_served(f, req)) {
		rpc_reply_status(req, -WIRE_ECOPYSET);
		return;
	}
	switch (req->op) {
	case WIRE_ASSIGN:
		answer_assign(f, req);
		break;
	case WIRE_GETSIZE:
		answer_getsize(f, req);
		break;
	case WIRE_REMOVE:
		answer_remove(f, req);
		break;
	case WIRE_RESIZE:
		answer_resize(f, req);
		break;
	case WIRE_FENCE:
		answer_fence(f, req);
		break;
	case WIRE_CLAIM:
		answer_claim(f, req);
		break;
	case WIRE_LEASE:
		answer_lease(f, req);
		break;
	default:
		rpc_reply_status(req, -ENOSYS);
	}
}

static bool holds(struct fakeiod *f, unsigned int op)
{
	if (atomic_load(&f->mute))
		return true;
	return atomic_load(&f->hold) && op != WIRE_FENCE && op != WIRE_CLAIM &&
	       op != WIRE_LEASE && op != WIRE_PING;
}

static void on_request(void *arg, struct rpc_req *req)
{
	struct fakeiod *f = arg;

	pthread_mutex_lock(&f->lock);
	if (holds(f, req->op)) {
		must(f->nheld < 256);
		f->held[f->nheld++] = req;
	} else {
		answer(f, req);
	}
	pthread_mutex_unlock(&f->lock);
}

static int on_open(void *arg, struct rpc_session *session)
{
	return 0;
}

static void on_close(void *arg, struct rpc_session *session, bool clean)
{
}

static const struct rpc_service service = { .session_open = on_open,
					    .session_close = on_close,
					    .request = on_request };

static void answer_held(struct fakeiod *f)
{
	pthread_mutex_lock(&f->lock);
	for (unsigned int i = 0; i < f->nheld; i++)
		answer(f, f->held[i]);
	f->nheld = 0;
	pthread_mutex_unlock(&f->lock);
}

static void *fakeiod_main(void *arg)
{
	struct fakeiod *f = arg;

	while (!atomic_load(&f->stop)) {
		rpc_ctx_progress(f->ctx, CLOCK_NEVER);
		if (!atomic_load(&f->hold) && !atomic_load(&f->mute))
			answer_held(f);
	}
	return NULL;
}

void fakeiod_init(struct fakeiod *f)
{
	memset(f, 0, sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	fakeiod_up(f);
}

void fakeiod_up(struct fakeiod *f)
{
	struct tp_dev_attr dev_attr = { 0 };
	struct rpc_ctx_attr ctx_attr = { 0 };
	struct rpc_server_attr attr = { .ctx = &f->ctx,
					.nctx = 1,
					.fsid = mgrc_fsid(),
					.boot = (uint64_t)clock_wall(),
					.slots = 16,
					.features = f->copies ? WIRE_FT_COPIES
							      : 0,
					.request_max = 16384,
					.reply_max = 4096,
					.max_sessions = 64,
					.session_ttl_ms = 60000,
					.service = &service,
					.arg = f };
	struct addr addr = { .scheme = "tcp",
			     .host = "127.0.0.1",
			     .port = (uint16_t)f->port };

	memset(&f->rows, 0, sizeof(f->rows));
	f->claimed = false;
	must(!tp_dev_open("tcp", &dev_attr, &f->dev));
	ctx_attr.dev = f->dev;
	must(!rpc_ctx_open(&ctx_attr, &f->ctx));
	attr.addr = addr;
	must(!rpc_server_open(&attr, &f->server));
	rpc_server_addr(f->server, &addr);
	f->port = addr.port;
	atomic_store(&f->stop, false);
	must(!pthread_create(&f->thread, NULL, fakeiod_main, f));
}

void fakeiod_down(struct fakeiod *f)
{
	atomic_store(&f->stop, true);
	rpc_ctx_wake(f->ctx);
	pthread_join(f->thread, NULL);
	rpc_server_close(f->server);
	f->nheld = 0;
	rpc_ctx_close(f->ctx);
	tp_dev_close(f->dev);
}

void fakeiod_destroy(struct fakeiod *f)
{
	struct fakeobj *o, *next;

	if (!atomic_load(&f->stop))
		fakeiod_down(f);
	HASH_ITER(hh, f->objects, o, next) {
		HASH_DEL(f->objects, o);
		free(o);
	}
	pthread_mutex_destroy(&f->lock);
}

void fakeiod_release(struct fakeiod *f)
{
	atomic_store(&f->hold, false);
	atomic_store(&f->mute, false);
	rpc_ctx_wake(f->ctx);
}

void fakeiod_set_in(struct fakeiod *f, struct object_key key, uint64_t size)
{
	pthread_mutex_lock(&f->lock);
	find(f, key, true)->size = size;
	pthread_mutex_unlock(&f->lock);
}

void fakeiod_set(struct fakeiod *f, uint64_t handle, uint64_t size)
{
	fakeiod_set_in(f, object_key_own(handle), size);
}

uint32_t fakeiod_version(struct fakeiod *f, uint32_t copyset)
{
	uint32_t version;

	pthread_mutex_lock(&f->lock);
	version = f->rows.complete ? version_of(f, copyset) : 0;
	pthread_mutex_unlock(&f->lock);
	return version;
}

int64_t fakeiod_size(struct fakeiod *f, uint64_t handle)
{
	struct fakeobj *o;
	int64_t size;

	pthread_mutex_lock(&f->lock);
	o = find(f, object_key_own(handle), false);
	size = o ? (int64_t)o->size : -1;
	pthread_mutex_unlock(&f->lock);
	return size;
}

unsigned int fakeiod_count(struct fakeiod *f)
{
	unsigned int n;

	pthread_mutex_lock(&f->lock);
	n = HASH_COUNT(f->objects);
	pthread_mutex_unlock(&f->lock);
	return n;
}

unsigned int fakeiod_list(struct fakeiod *f, uint64_t *handle, unsigned int cap)
{
	struct fakeobj *o, *next;
	unsigned int n = 0;

	pthread_mutex_lock(&f->lock);
	HASH_ITER(hh, f->objects, o, next)
		if (n < cap)
			handle[n++] = o->key.handle;
	pthread_mutex_unlock(&f->lock);
	return n;
}

static uint64_t get64(struct fakeiod *f, const uint64_t *number)
{
	uint64_t n;

	pthread_mutex_lock(&f->lock);
	n = *number;
	pthread_mutex_unlock(&f->lock);
	return n;
}

uint64_t fakeiod_term(struct fakeiod *f)
{
	return get64(f, &f->term);
}

uint64_t fakeiod_until(struct fakeiod *f)
{
	return get64(f, &f->until);
}

unsigned int fakeiod_get(struct fakeiod *f, const unsigned int *counter)
{
	unsigned int n;

	pthread_mutex_lock(&f->lock);
	n = *counter;
	pthread_mutex_unlock(&f->lock);
	return n;
}
