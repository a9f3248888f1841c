/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_check.c - checks that depend on more than one field of a message. */
#include <string.h>
#include <sys/stat.h>

#include "common/util/extent.h"
#include "common/wire/wire.h"
#include "common/wire/wire_form.h"

/* ---- reads, writes and names ---- */

static const char *check_regions(const struct wire_tail *tail, uint64_t total)
{
	const struct wire_region *reg = tail->ptr;
	size_t n = tail->len / sizeof(*reg);
	uint64_t sum = 0, end;

	for (size_t i = 0; i < n; i++) {
		if (reg[i].len == 0)
			return "wire_region.len: zero";
		if (!extent_end(le64toh(reg[i].off), le64toh(reg[i].len), &end))
			return "wire_region: the end is above 2^63 - 1";
		if (!extent_end(sum, le64toh(reg[i].len), &sum))
			return "wire_region: the sum is above 2^63 - 1";
	}
	return sum == total ? NULL : "wire_io.total: not the sum of regions";
}

/* Unlike file offsets, addresses may use all 64 bits. */
static const char *check_segment(const struct wire_mem *mem)
{
	uint64_t end;

	if (mem->len == 0)
		return "wire_mem.len: zero";
	if (__builtin_add_overflow(le64toh(mem->addr), le32toh(mem->len), &end))
		return "wire_mem: the end is above 2^64 - 1";
	return NULL;
}

const char *wire_check_mem(const struct wire_tail *tail, uint64_t total)
{
	const struct wire_mem *mem = tail->ptr;
	size_t n = tail->len / sizeof(*mem);
	const char *why;
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		why = check_segment(&mem[i]);
		if (why)
			return why;
		sum += le32toh(mem[i].len);
	}
	return sum == total ? NULL : "wire_io.total: not the sum of mem";
}

static const char *check_lists(const struct wire_msg *msg, uint64_t total)
{
	const char *why = check_regions(&msg->tail[0], total);

	if (!why && total == 0)
		why = "wire_io.total: zero";
	if (!why && msg->tail[1].len)
		why = wire_check_mem(&msg->tail[1], total);
	return why;
}

const char *wire_check_rename(const struct wire_msg *msg)
{
	const struct wire_rename *body = msg->body;

	if (le32toh(body->flags) == (WIRE_RN_NOREPLACE | WIRE_RN_EXCHANGE))
		return "wire_rename.flags: both";
	return NULL;
}

const char *wire_check_mknod(const struct wire_msg *msg)
{
	const struct wire_mknod *body = msg->body;
	uint32_t mode = le32toh(body->mode);

	if (S_ISCHR(mode) || S_ISBLK(mode))
		return NULL;
	if (!S_ISFIFO(mode) && !S_ISSOCK(mode))
		return "wire_mknod.mode: no special file";
	return body->major || body->minor ? "wire_mknod: a number of no device"
					  : NULL;
}

const char *wire_check_read(const struct wire_msg *msg)
{
	const struct wire_io *io = msg->body;
	uint64_t total = le64toh(io->total);

	if (io->nmem == 0 && total > WIRE_INLINE_MAX)
		return "wire_io.total: too large for an inline reply";
	return check_lists(msg, total);
}

const char *wire_check_write(const struct wire_msg *msg)
{
	const struct wire_io *io = msg->body;
	uint64_t total = le64toh(io->total);

	if (le32toh(io->data_len) != (io->nmem ? 0 : total))
		return "wire_io.data_len: not the total, or not 0 with mem";
	return check_lists(msg, total);
}

const char *wire_check_read_rep(const struct wire_msg *msg)
{
	const struct wire_io_rep *rep = msg->body;

	if (rep->data_len && le32toh(rep->data_len) != le64toh(rep->done))
		return "wire_io_rep.data_len: neither 0 nor done";
	return NULL;
}

const char *wire_check_readdir(const struct wire_msg *msg)
{
	const struct wire_readdir *req = msg->body;

	return check_segment(&req->mem);
}

const char *wire_check_auth_rep(const struct wire_msg *msg)
{
	const struct wire_auth_rep *rep = msg->body;

	return rep->ticket_len ? NULL : "wire_auth_rep.ticket_len: zero";
}

/* The tail contains exactly niods strings, each with a NUL. */
const char *wire_check_mount_rep(const struct wire_msg *msg)
{
	const struct wire_mount_rep *rep = msg->body;
	const char *uri = msg->tail[0].ptr;
	size_t left = msg->tail[0].len, len;
	uint32_t n;

	for (n = 0; left; n++) {
		len = strnlen(uri, left);
		if (len == left || len == 0 || len > WIRE_URI_MAX)
			return "wire_mount_rep: uris malformed";
		uri += len + 1;
		left -= len + 1;
	}
	if (n == 0 || n != le32toh(rep->niods))
		return "wire_mount_rep.niods: not the number of uris";
	return NULL;
}

static const char *check_end_place(size_t n, const struct wire_end_place *place)
{
	if (n != 1)
		return "wire_getsize_rep.places: of several objects";
	if (!place->addr || le64toh(place->addr) % 8)
		return "wire_end_place.addr: not that of a word";
	if (!place->tag)
		return "wire_end_place.tag: zero";
	return place->zero ? "wire_end_place.zero: reserved, not zero" : NULL;
}

const char *wire_check_getsize_rep(const struct wire_msg *msg)
{
	const struct wire_objsize *obj = msg->tail[0].ptr;
	size_t n = msg->tail[0].len / sizeof(*obj);

	for (size_t i = 0; i < n; i++) {
		if (le64toh(obj[i].size) > INT64_MAX)
			return "wire_objsize.size: above 2^63 - 1";
	}
	return msg->tail[1].len ? check_end_place(n, msg->tail[1].ptr) : NULL;
}

const char *wire_check_share_rep(const struct wire_msg *msg)
{
	const struct wire_share_rep *rep = msg->body;

	if (le64toh(rep->addr) % 8)
		return "wire_share_rep.addr: not that of a word";
	return le64toh(rep->places) > WIRE_SHARE_MAX
		       ? "wire_share_rep.places: too large"
		       : NULL;
}

const char *wire_check_carry(const struct wire_msg *msg)
{
	const struct wire_carry_rep *rep = msg->body;
	uint64_t end;

	if (rep->len == 0)
		return "wire_carry_rep.len: zero";
	if (__builtin_add_overflow(le64toh(rep->addr), le32toh(rep->len), &end))
		return "wire_carry_rep: the end is above 2^64 - 1";
	if (!extent_end(le64toh(rep->mem_off), le32toh(rep->len), &end))
		return "wire_carry_rep.mem_off: the end is above 2^63 - 1";
	return NULL;
}

const char *wire_check_lock(const struct wire_msg *msg)
{
	const struct wire_lock *lock = msg->body;
	uint32_t flags = le32toh(lock->flags);

	if (flags & WIRE_L_CANCEL &&
	    (flags & (WIRE_L_WAIT | WIRE_L_TEST) || lock->type))
		return "wire_lock.flags: CANCEL with others";
	return le64toh(lock->start) < le64toh(lock->end)
		       ? NULL
		       : "wire_lock.end: not above start";
}

static const char *check_wanted(const struct wire_lock *lock)
{
	uint32_t type = le32toh(lock->type);

	if (!lock->owner)
		return "wire_lock.owner: zero";
	if (type != WIRE_L_SHARED && type != WIRE_L_EXCLUSIVE)
		return "wire_lock.type: not to be waited for";
	if (le32toh(lock->flags) & ~WIRE_L_WHOLE)
		return "wire_lock.flags: unknown bits";
	if (le64toh(lock->end) > INT64_MAX ||
	    le64toh(lock->start) >= le64toh(lock->end))
		return "wire_lock.end: not above start, or above 2^63 - 1";
	return NULL;
}

const char *wire_check_lock_any(const struct wire_msg *msg)
{
	const struct wire_lock *lock = msg->tail[0].ptr;
	size_t n = msg->tail[0].len / sizeof(*lock);
	const char *why = n ? NULL : "wire_lock_any.n: zero";

	for (size_t i = 0; i < n && !why; i++)
		why = check_wanted(&lock[i]);
	return why;
}

const char *wire_check_declare(const struct wire_msg *msg)
{
	const struct wire_hold *hold = msg->tail[0].ptr;
	size_t n = msg->tail[0].len / sizeof(*hold);

	for (size_t i = 0; i < n; i++) {
		if (!hold[i].handle || !hold[i].open)
			return "wire_hold: handle or open zero";
	}
	return NULL;
}

const char *wire_check_groups(const struct wire_msg *msg)
{
	const struct wire_groups *part = msg->body;
	uint32_t n = le32toh(part->n), first = le32toh(part->first);

	if (!n || first > WIRE_GROUPS_ALL || first + n > le32toh(part->total))
		return "wire_groups.n: zero, or beyond total";
	return NULL;
}

static bool has_two_paths(unsigned int op)
{
	return op == WIRE_RENAME || op == WIRE_LINK || op == WIRE_SYMLINK ||
	       op == WIRE_LINK2;
}

const char *wire_check_path_rep(const struct wire_msg *msg)
{
	const struct wire_path_rep *rep = msg->body;

	if (rep->which && !has_two_paths(le16toh(msg->hdr->op)))
		return "wire_path_rep.which: there is only one path";
	return msg->tail[0].len ? NULL : "wire_path_rep.path_len: zero";
}

const char *wire_check_leader(const struct wire_msg *msg)
{
	const struct wire_leader *leader = msg->body;
	bool none = le32toh(leader->index) == WIRE_LEADER_NONE;

	if (!none && le32toh(leader->index) >= WIRE_MGR_MAX)
		return "wire_leader.index: too large";
	if (none && leader->uri_len)
		return "wire_leader.uri_len: the address of no leader";
	return NULL;
}

bool wire_job_ok(const void *job, size_t len)
{
	const uint8_t *c = job;

	for (size_t i = 0; i < len; i++)
		if (c[i] < ' ' || c[i] > '~')
			return false;
	return len <= WIRE_JOB_MAX;
}

const char *wire_check_space(le64 off, le64 len, uint32_t flags)
{
	uint64_t end;

	if (!len)
		return "wire_fallocate.len: zero";
	if (!extent_end(le64toh(off), le64toh(len), &end))
		return "wire_fallocate: the end is above 2^63 - 1";
	if (flags & WIRE_FA_PUNCH && flags != (WIRE_FA_PUNCH | WIRE_FA_KEEP))
		return "wire_fallocate.flags: PUNCH with others";
	return NULL;
}

const char *wire_check_fallocate(const struct wire_msg *msg)
{
	const struct wire_fallocate *body = msg->body;

	return wire_check_space(body->off, body->len, le32toh(body->flags));
}

const char *wire_check_copy(const struct wire_msg *msg)
{
	const struct wire_copy *body = msg->body;
	uint64_t end, len = le64toh(body->len);

	if (!len)
		return "wire_copy.len: zero";
	if (!extent_end(le64toh(body->off), len, &end) ||
	    !extent_end(le64toh(body->src), len, &end))
		return "wire_copy: an end is above 2^63 - 1";
	return NULL;
}

const char *wire_check_fence(const struct wire_msg *msg)
{
	const le64 *session = msg->tail[0].ptr;
	size_t n = msg->tail[0].len / sizeof(*session);

	for (size_t i = 0; i < n; i++)
		if (!session[i])
			return "wire_fence: session zero";
	return n ? NULL : "wire_fence.n: zero";
}

/* ---- list requests ---- */

/* Adds (count - 1) * stride to *end. */
static bool add_stride(uint64_t *end, uint64_t stride, uint32_t count)
{
	uint64_t way;

	if (count == 1)
		return true;
	return !__builtin_mul_overflow(stride, (uint64_t)count - 1, &way) &&
	       extent_end(*end, way, end);
}

static const char *check_vec(const struct wire_vec *vec, uint64_t *pieces)
{
	uint32_t count = le32toh(vec->count), count2 = le32toh(vec->count2);
	uint64_t end;

	if (!vec->len)
		return "wire_vec.len: zero";
	if (!count || !count2)
		return "wire_vec.count: zero";
	*pieces += (uint64_t)count * count2;
	if (*pieces > WIRE_PIECE_MAX || count > WIRE_PIECE_MAX)
		return "wire_vec.count: too many pieces";
	if (!extent_end(le64toh(vec->off), le64toh(vec->len), &end) ||
	    !add_stride(&end, le64toh(vec->stride), count) ||
	    !add_stride(&end, le64toh(vec->stride2), count2))
		return "wire_vec: the end is above 2^63 - 1";
	return NULL;
}

static const char *check_vecs(const struct wire_tail *tail)
{
	const struct wire_vec *vec = tail->ptr;
	size_t n = tail->len / sizeof(*vec);
	const char *why = n ? NULL : "wire_list.io.nreg: zero";
	uint64_t pieces = 0;

	for (size_t i = 0; i < n && !why; i++)
		why = check_vec(&vec[i], &pieces);
	return why;
}

static const char *check_dist(const struct wire_dist *dist)
{
	uint32_t pcount = le32toh(dist->pcount), ssize = le32toh(dist->ssize);

	if (!pcount || pcount > WIRE_IOD_MAX)
		return "wire_list.dist.pcount: cannot be";
	if (le32toh(dist->base) >= pcount)
		return "wire_list.dist.base: not below pcount";
	if (ssize < WIRE_SSIZE_MIN || ssize > WIRE_SSIZE_MAX)
		return "wire_list.dist.ssize: cannot be";
	return NULL;
}

/*
 * Only the iod can check whether its share of the pieces has total bytes, because it knows the
 * striping.
 */
static const char *check_list(const struct wire_msg *msg, uint64_t total)
{
	const struct wire_list *list = msg->body;
	const char *why = check_dist(&list->dist);

	if (!why && !total)
		why = "wire_list.io.total: zero";
	if (!why)
		why = check_vecs(&msg->tail[0]);
	if (!why && msg->tail[1].len)
		why = wire_check_mem(&msg->tail[1], total);
	return why;
}

const char *wire_check_read_list(const struct wire_msg *msg)
{
	const struct wire_list *list = msg->body;
	uint64_t total = le64toh(list->io.total);

	if (!list->io.nmem && total > WIRE_INLINE_MAX)
		return "wire_list.io.total: too large for an inline reply";
	return check_list(msg, total);
}

const char *wire_check_write_list(const struct wire_msg *msg)
{
	const struct wire_list *list = msg->body;
	uint64_t total = le64toh(list->io.total);

	if (le32toh(list->io.data_len) != (list->io.nmem ? 0 : total))
		return "wire_list.io.data_len: not the total, or not 0 with "
		       "mem";
	return check_list(msg, total);
}

/* ---- sessions ---- */

/* Printable text, padded with zeros. */
static bool is_text(const uint8_t *text, size_t max)
{
	size_t len = strnlen((const char *)text, max);

	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	for (size_t i = len; i < max; i++)
		if (text[i])
			return false;
	return true;
}

static const char *check_session(const struct wire_session *s)
{
	if (!s->id)
		return "wire_session.id: zero";
	if (le32toh(s->flags) & ~WIRE_SE_AWAY)
		return "wire_session.flags: unknown bits";
	if (s->zero)
		return "wire_session.zero: reserved, not zero";
	if (!is_text(s->job, sizeof(s->job)) ||
	    !is_text(s->name, sizeof(s->name)) ||
	    !is_text(s->peer, sizeof(s->peer)))
		return "wire_session: unprintable characters";
	return NULL;
}

const char *wire_check_sessions_rep(const struct wire_msg *msg)
{
	const struct wire_sessions_rep *rep = msg->body;
	const struct wire_session *s = msg->tail[0].ptr;
	size_t n = msg->tail[0].len / sizeof(*s);
	const char *why = NULL;

	for (size_t i = 0; !why && i < n; i++) {
		why = check_session(&s[i]);
		if (!why && i && le64toh(s[i].id) <= le64toh(s[i - 1].id))
			why = "wire_session.id: out of order";
	}
	if (!why && rep->more && !n)
		why = "wire_sessions_rep.more: without a session";
	return why;
}

const char *wire_check_evict(const struct wire_msg *msg)
{
	const struct wire_evict *body = msg->body;
	unsigned int by = le32toh(body->by);
	bool text = by == WIRE_EV_JOB || by == WIRE_EV_HOST;

	if (!body->session != (by != WIRE_EV_SESSION))
		return "wire_evict.session: zero, or of no use";
	if (body->uid && by != WIRE_EV_USER)
		return "wire_evict.uid: of no use";
	if (!msg->tail[0].len == text)
		return "wire_evict.len: no text, or of no use";
	return NULL;
}

/* ---- directory records ---- */

static bool is_name(const char *name, size_t len)
{
	return len && len <= WIRE_NAME_MAX && !name[len] &&
	       !memchr(name, '\0', len) && !memchr(name, '/', len);
}

bool wire_dirent_ok(const struct wire_dirent *d, size_t left, size_t fixed)
{
	size_t reclen, len;

	if (left < fixed)
		return false;
	reclen = le16toh(d->reclen);
	len = le16toh(d->name_len);
	return reclen <= left && reclen % 8 == 0 && fixed + len + 1 <= reclen &&
	       le64toh(d->cookie) <= INT64_MAX &&
	       is_name((const char *)d + fixed, len);
}

/* ---- managers ---- */

const char *wire_check_raft(const struct wire_msg *msg)
{
	const struct wire_raft *raft = msg->body;
	uint32_t len = le32toh(raft->len);

	if (!len)
		return "wire_raft.len: zero";
	if (le32toh(raft->data_len) != (raft->nmem ? 0 : len))
		return "wire_raft.data_len: not len, or not 0 with mem";
	return raft->nmem ? wire_check_mem(&msg->tail[0], len) : NULL;
}

const char *wire_check_fetch(const struct wire_msg *msg)
{
	const struct wire_fetch *fetch = msg->body;

	if (!fetch->len)
		return "wire_fetch.len: zero";
	return wire_check_mem(&msg->tail[0], le32toh(fetch->len));
}

const char *wire_check_managers(const struct wire_msg *msg)
{
	const struct wire_managers *body = msg->body;
	unsigned int cmd = le32toh(body->cmd);

	if (cmd == WIRE_MA_STATUS ? body->id != 0
				  : cmd != WIRE_MA_TRANSFER && !body->id)
		return "wire_managers.id: zero, or of no use";
	if (!msg->tail[0].len == (cmd == WIRE_MA_JOIN))
		return "wire_managers.uri_len: no address, or of no use";
	return NULL;
}

static const char *check_member(const struct wire_member *m)
{
	if (!m->id)
		return "wire_member.id: zero";
	if (le32toh(m->flags) & ~WIRE_MM_ALL)
		return "wire_member.flags: unknown bits";
	if (m->zero)
		return "wire_member.zero: reserved, not zero";
	if (!is_text(m->uri, sizeof(m->uri)))
		return "wire_member.uri: unprintable characters";
	return NULL;
}

const char *wire_check_managers_rep(const struct wire_msg *msg)
{
	const struct wire_member *m = msg->tail[0].ptr;
	size_t n = msg->tail[0].len / sizeof(*m);
	const char *why = NULL;

	for (size_t i = 0; !why && i < n; i++) {
		why = check_member(&m[i]);
		for (size_t k = 0; !why && k < i; k++)
			if (m[k].id == m[i].id)
				why = "wire_member.id: twice";
	}
	return why;
}
