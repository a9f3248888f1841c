/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_check.c - checks that depend on more than one field of a message. */
#include <string.h>
#include <sys/stat.h>

#include "common/util/extent.h"
#include "common/wire/wire_form.h"

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

/* Exactly niods strings, each with a NUL. */
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

bool wire_job_ok(const void *job, size_t len)
{
	const uint8_t *c = job;

	for (size_t i = 0; i < len; i++)
		if (c[i] < ' ' || c[i] > '~')
			return false;
	return len <= WIRE_JOB_MAX;
}

const char *wire_check_fallocate(const struct wire_msg *msg)
{
	const struct wire_fallocate *body = msg->body;
	uint32_t flags = le32toh(body->flags);
	uint64_t end;

	if (!body->len)
		return "wire_fallocate.len: zero";
	if (!extent_end(le64toh(body->off), le64toh(body->len), &end))
		return "wire_fallocate: the end is above 2^63 - 1";
	if (flags & WIRE_FA_PUNCH && flags != (WIRE_FA_PUNCH | WIRE_FA_KEEP))
		return "wire_fallocate.flags: PUNCH with others";
	return NULL;
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
