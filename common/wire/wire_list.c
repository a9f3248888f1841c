/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_list.c - checks of list requests: the vectors and the striping. */
#include "common/util/extent.h"
#include "common/wire/wire_form.h"

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

/* Only the iod, which knows the striping, checks whether its share is total bytes. */
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
