/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_gaps.c - the replies to READ, and the end of the file.
 *
 * If an object is shorter than the range that was read, this may be the end of the file or a hole.
 * Only in this case, the client computes the size of the file: from the sizes in the replies, and
 * if these do not suffice, by asking the other iods.  Missing bytes before the end are zeros.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/broadcast.h"
#include "client/lib/io/io_int.h"
#include "client/lib/session/list_packing.h"
#include "common/util/usermem.h"
#include "client/lib/io/shared_blocks_int.h"

static int io_gap_add(struct io *io, const struct io_slot *slot, uint64_t done)
{
	struct io_gap *grown;

	if (io->ngap == io->maxgap) {
		grown = calloc(io->maxgap * 2, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memcpy(grown, io->gap, io->ngap * sizeof(*grown));
		if (io->gap != io->few_gap)
			free(io->gap);
		io->gap = grown;
		io->maxgap *= 2;
	}
	io->gap[io->ngap++] = (struct io_gap){ slot->from, done, slot->total,
					       slot->k };
	return 0;
}

static int io_scatter(struct io *io, const struct io_slot *slot,
		      const char *data, uint64_t len)
{
	struct iovec piece[WIRE_MEM_MAX];
	struct plan_cur cur = slot->from;
	unsigned int i, n;
	int rc = 0;

	while (len && !rc) {
		n = plan_pieces(io->plan, &cur, &len, piece);
		rc = usermem_touch(io->s->zero_fd, piece, n);
		for (i = 0; i < n && !rc; i++) {
			memcpy(piece[i].iov_base, data, piece[i].iov_len);
			data += piece[i].iov_len;
		}
	}
	return rc;
}

int io_read_whole(struct io *io, struct io_slot *slot)
{
	return slot->pack ? io_scatter(io, slot, slot->pack->buf, slot->total)
			  : 0;
}

int io_read_taken(struct io *io, struct io_slot *slot,
		  const struct wire_msg *reply)
{
	const struct wire_io_rep *rep = reply->body;
	struct io_server *sv = &io->server[slot->k];
	uint64_t done = le64toh(rep->done), len = le32toh(rep->data_len);
	int rc;

	if (done > slot->total || (len && len != done))
		return -EPROTO;
	if (slot->in && len != done)
		return -EPROTO;
	if (slot->pack && !len)
		rc = io_scatter(io, slot, slot->pack->buf, done);
	else if (slot->call.rpc.landed)
		rc = io_scatter(io, slot, slot->call.rpc.landed, done);
	else
		rc = io_scatter(io, slot, reply->tail[0].ptr, len);
	if (rc)
		return rc;
	sv->size = le64toh(rep->size);
	sv->seen = true;
	if (done == slot->total)
		return 0;
	sv->at_eof = true; /* reads only ascend, see io.h */
	return io_gap_add(io, slot, done);
}

/* ---- the end of the file ---- */

static bool io_seen(void *arg, uint32_t k)
{
	const struct io *io = arg;

	return io->server[k].seen;
}

/* The offset after the last byte of the file that the plan names. */
static uint64_t plan_file_end(const struct io_plan *plan)
{
	uint64_t end, max = 0;
	unsigned int i;

	for (i = 0; i < plan->nspan; i++) {
		const struct plan_span *span = &plan->span[i];

		if (span->len &&
		    view_end(plan->view, span->pos, span->len, &end) &&
		    end > max)
			max = end;
	}
	return max;
}

static int io_file_size(struct io *io, uint64_t *size)
{
	const struct dist *dist = io->plan->dist;
	struct file_size rest;
	uint64_t max = 0, n;
	bool all = true;
	uint32_t k;
	int rc;

	for (k = 0; k < io->nserver; k++) {
		all = all && io->server[k].seen;
		n = io->server[k].seen
			    ? dist_file_size(dist, k, io->server[k].size)
			    : 0;
		if (n > max)
			max = n;
	}
	if (!all && max < plan_file_end(io->plan)) {
		rc = size_ask(io->s, io->handle, dist, io_seen, io, &rest);
		if (rc)
			return rc;
		if (rest.size > max)
			max = rest.size;
	}
	*size = max;
	return 0;
}

/* Bytes of the transfer before the first one at or beyond the end of the file. */
static uint64_t plan_before(const struct io_plan *plan, uint64_t size)
{
	uint64_t seen = view_before(plan->view, size), n = 0;
	unsigned int i;

	for (i = 0; i < plan->nspan; i++) {
		const struct plan_span *span = &plan->span[i];

		if (seen < span->pos + span->len)
			return n + (seen > span->pos ? seen - span->pos : 0);
		n += span->len;
	}
	return n;
}

/* Zeros bytes [skip, total) from the cursor, but none beyond n. */
static int io_zero(const struct io *io, struct plan_cur cur, uint64_t skip,
		   uint64_t total, uint64_t n)
{
	unsigned int iov;
	size_t len;
	int rc = 0;

	while (!rc && total && plan_piece(io->plan, &cur) && cur.piece.at < n) {
		uint64_t max = skip ? skip : n - cur.piece.at;
		void *mem;

		if (max > total)
			max = total;
		mem = plan_memory(io->plan, &cur, max, &len, &iov);
		if (skip)
			skip -= len;
		else
			rc = usermem_zero(io->s->zero_fd, mem, len);
		plan_advance(&cur, len);
		total -= len;
	}
	return rc;
}

/* Whether an object that has a byte of the transfer before byte n is empty or missing. */
static bool io_has_empty_object(const struct io *io, uint64_t n)
{
	struct plan_cur cur;
	unsigned int i;

	for (i = 0; i < io->ngap; i++) {
		if (io->server[io->gap[i].k].size)
			continue;
		cur = io->gap[i].from;
		if (plan_piece(io->plan, &cur) && cur.piece.at < n)
			return true;
	}
	return false;
}

int io_fill_gaps(struct io *io, uint64_t least, uint64_t *n, bool *doubt)
{
	uint64_t size;
	unsigned int i;
	uint32_t k;
	int rc = io_file_size(io, &size);

	if (rc)
		return rc;
	*n = plan_before(io->plan, size);
	*doubt = !size || size < least || io_has_empty_object(io, *n);
	for (i = 0; !rc && i < io->ngap; i++)
		rc = io_zero(io, io->gap[i].from, io->gap[i].skip,
			     io->gap[i].total, *n);
	for (k = 0; !rc && k < io->nserver; k++) {
		if (io->server[k].at_eof)
			rc = io_zero(io, io->server[k].cur, 0, UINT64_MAX, *n);
	}
	return rc;
}
