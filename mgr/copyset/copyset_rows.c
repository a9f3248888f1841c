/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copyset_rows.c - named values "ring.N", "copyset.N" and "copyset.revision".
 *
 * "copyset.N" has the records of the copysets from N to N + 63. All integers are little-endian.
 */
#include "mgr/copyset/copyset_rows.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FORMAT 1u

struct ring_row {
	uint32_t format;
	uint32_t copies, first, n;
};
_Static_assert(sizeof(struct ring_row) == 16, "ring record");

struct copyset_record {
	uint64_t revision; /* of its last change */
	uint32_t version, losses;
	uint16_t iod[COPYSET_COPIES_MAX];
	uint8_t state[COPYSET_COPIES_MAX];
	uint8_t n;
	uint8_t format; /* 0: there is no such copyset */
	uint8_t zero[5];
};
_Static_assert(sizeof(struct copyset_record) == 32, "copyset record");
_Static_assert(COPYSET_ROUNDS_MAX *COPYSET_FIRST *
			       sizeof(struct copyset_record) <
		       STORE_ENTRY_MAX / 4,
	       "the largest ring is made in one transaction");

#define BLOCK 64u
struct copyset_block {
	struct copyset_record record[BLOCK];
};
_Static_assert(sizeof(struct copyset_block) <= STORE_VAL_MAX, "one value");

static int report_damage(struct store *st, const char *what, uint32_t id)
{
	log_error(store_log(st), "%s %u: damaged record", what, id);
	return -EIO;
}

/* ---- revisions ---- */

int copyset_revision(struct store *st, uint64_t *revision)
{
	int rc = meta_get_u64(st, "copyset.revision", revision);

	if (rc == -ENOENT)
		*revision = 0;
	return rc == -ENOENT ? 0 : rc;
}

static int next_revision(struct store *st, uint64_t *revision)
{
	int rc = copyset_revision(st, revision);

	if (rc)
		return rc;
	++*revision;
	return meta_put_u64(st, "copyset.revision", *revision);
}

/* ---- blocks of copysets ---- */

static void block_name(uint32_t id, char name[24])
{
	snprintf(name, 24, "copyset.%u", id - id % BLOCK);
}

/* If there is no value yet, all records are empty. */
static int block_get(struct store *st, uint32_t id, struct copyset_block *block)
{
	char name[24];
	int rc;

	block_name(id, name);
	memset(block, 0, sizeof(*block));
	rc = meta_get(st, name, block, sizeof(*block));
	return rc == -ENOENT ? 0 : rc;
}

static int block_put(struct store *st, uint32_t id,
		     const struct copyset_block *block)
{
	char name[24];

	block_name(id, name);
	return meta_put(st, name, block, sizeof(*block));
}

static void record_encode(const struct copyset *set, uint64_t revision,
			  struct copyset_record *r)
{
	*r = (struct copyset_record){ .revision = htole64(revision),
				      .version = htole32(set->version),
				      .losses = htole32(set->losses),
				      .n = (uint8_t)set->n,
				      .format = FORMAT };
	for (uint32_t i = 0; i < set->n; i++) {
		r->iod[i] = htole16((uint16_t)set->member[i].iod);
		r->state[i] = (uint8_t)set->member[i].state;
	}
}

static bool record_is_valid(const struct copyset_record *r)
{
	if (r->format != FORMAT || !r->n || r->n > COPYSET_COPIES_MAX)
		return false;
	for (unsigned int i = 0; i < r->n; i++)
		if (r->state[i] >= COPYSET_STATES)
			return false;
	return true;
}

/* -ENOENT: there is no such copyset. */
static int record_decode(struct store *st, const struct copyset_record *r,
			 uint32_t id, struct copyset *set)
{
	if (!r->format)
		return -ENOENT;
	if (!record_is_valid(r))
		return report_damage(st, "copyset", id);
	*set = (struct copyset){ .id = id,
				 .version = le32toh(r->version),
				 .losses = le32toh(r->losses),
				 .n = r->n };
	for (uint32_t i = 0; i < set->n; i++)
		set->member[i] = (struct copyset_member){
			.iod = le16toh(r->iod[i]), .state = r->state[i]
		};
	return 0;
}

/* ---- copysets ---- */

static int own_copyset(struct store *st, uint32_t iod, struct copyset *set)
{
	struct ring ring;
	int rc = ring_get(st, 0, &ring);

	if (rc || iod >= ring.n)
		return rc ? rc : -ENOENT;
	*set = (struct copyset){ .id = iod, .n = 1, .member[0].iod = iod };
	return 0;
}

int copyset_get(struct store *st, uint32_t id, struct copyset *set)
{
	struct copyset_block block;
	int rc;

	if (id < COPYSET_FIRST)
		return own_copyset(st, id, set);
	rc = block_get(st, id, &block);
	return rc ? rc : record_decode(st, &block.record[id % BLOCK], id, set);
}

int copyset_change(struct store *st, struct copyset *set)
{
	struct copyset_block block;
	struct copyset_record *r = &block.record[set->id % BLOCK];
	struct copyset changed = *set, now;
	uint64_t revision;
	int rc;

	if (set->id < COPYSET_FIRST)
		return -ENOENT;
	rc = block_get(st, set->id, &block);
	if (!rc)
		rc = record_decode(st, r, set->id, &now);
	if (!rc && now.version != set->version)
		rc = -ESTALE;
	if (!rc)
		rc = next_revision(st, &revision);
	if (rc)
		return rc;
	changed.version++;
	record_encode(&changed, revision, r);
	rc = block_put(st, set->id, &block);
	if (!rc)
		*set = changed;
	return rc;
}

/* Copysets have consecutive ids: this is one after the last. */
static int copysets_end(struct store *st, uint32_t *end, uint32_t *rings)
{
	struct ring ring;
	int rc;

	*end = COPYSET_FIRST;
	for (*rings = 1; !(rc = ring_get(st, *rings, &ring)); ++*rings)
		*end = ring.first + ring.n;
	return rc == -ENOENT ? 0 : rc;
}

/* Reads from *id on, to the end of its block at most.  Returns the number of copysets or -errno. */
static int read_block(struct store *st, uint64_t since, uint32_t *id,
		      uint32_t end, struct copyset *set, unsigned int max)
{
	struct copyset_block block;
	unsigned int n = 0;
	int rc = block_get(st, *id, &block);

	while (!rc && *id < end && n < max) {
		const struct copyset_record *r = &block.record[*id % BLOCK];

		if (le64toh(r->revision) > since || !r->format)
			rc = record_decode(st, r, *id, &set[n++]);
		if (++*id % BLOCK == 0)
			break;
	}
	if (rc == -ENOENT)
		return report_damage(st, "copyset", *id - 1);
	return rc ? rc : (int)n;
}

int copyset_read_changed(struct store *st, uint64_t since, uint32_t *from,
			 struct copyset *set, unsigned int max)
{
	uint32_t id = *from < COPYSET_FIRST ? COPYSET_FIRST : *from, end, rings;
	unsigned int n = 0;
	int rc = copysets_end(st, &end, &rings);

	while (rc >= 0 && id < end && n < max) {
		rc = read_block(st, since, &id, end, set + n, max - n);
		if (rc > 0)
			n += (unsigned int)rc;
	}
	if (rc < 0)
		return rc;
	*from = id < end ? id : 0;
	return (int)n;
}

/* ---- rings ---- */

static void ring_name(uint32_t id, char name[24])
{
	snprintf(name, 24, "ring.%u", id);
}

static int ring_of_all(struct store *st, struct ring *ring)
{
	uint64_t niods;
	int rc = meta_get_u64(st, "niods", &niods);

	if (!rc)
		*ring = ring_of_iods((uint32_t)niods);
	return rc;
}

int ring_get(struct store *st, uint32_t id, struct ring *ring)
{
	struct ring_row r;
	char name[24];
	int rc;

	if (!id)
		return ring_of_all(st, ring);
	ring_name(id, name);
	rc = meta_get(st, name, &r, sizeof(r));
	if (rc)
		return rc;
	*ring = (struct ring){ .id = id,
			       .copies = le32toh(r.copies),
			       .first = le32toh(r.first),
			       .n = le32toh(r.n) };
	if (le32toh(r.format) != FORMAT || !ring->n ||
	    ring->n > COPYSET_END - COPYSET_FIRST ||
	    ring->first < COPYSET_FIRST || ring->first > COPYSET_END - ring->n)
		return report_damage(st, "ring", id);
	return 0;
}

static int ring_put(struct store *st, const struct ring *ring)
{
	const struct ring_row r = { .format = htole32(FORMAT),
				    .copies = htole32(ring->copies),
				    .first = htole32(ring->first),
				    .n = htole32(ring->n) };
	char name[24];

	ring_name(ring->id, name);
	return meta_put(st, name, &r, sizeof(r));
}

/* Writes the copysets of the ring from id to the end of its block. */
static int put_block(struct store *st, const struct ring *ring, uint32_t id,
		     const struct copyset_design *design, uint64_t revision)
{
	struct copyset_block block;
	uint32_t at = id;
	int rc = block_get(st, id, &block);

	if (rc)
		return rc;
	do {
		struct copyset set = { .version = 1, .n = ring->copies };

		for (uint32_t i = 0; i < set.n; i++)
			set.member[i].iod = design->member[at - ring->first][i];
		record_encode(&set, revision, &block.record[at % BLOCK]);
	} while (++at % BLOCK && at < ring->first + ring->n);
	return block_put(st, id, &block);
}

static int put_design(struct store *st, const struct ring *ring,
		      const struct copyset_design *design)
{
	uint32_t end = ring->first + ring->n;
	uint64_t revision;
	int rc = next_revision(st, &revision);

	if (!rc)
		rc = ring_put(st, ring);
	for (uint32_t id = ring->first; !rc && id < end;
	     id += BLOCK - id % BLOCK)
		rc = put_block(st, ring, id, design, revision);
	return rc;
}

static bool design_is_of_iods(const struct copyset_design *design,
			      unsigned int copies, uint32_t niods)
{
	for (uint32_t i = 0; i < design->n; i++)
		for (unsigned int k = 0; k < copies; k++)
			if (design->member[i][k] >= niods)
				return false;
	return true;
}

int ring_make(struct store *st, unsigned int copies,
	      const struct copyset_design *design, struct ring *ring)
{
	struct ring new = { .copies = copies, .n = design->n }, all;
	int rc = ring_get(st, 0, &all);

	if (!rc)
		rc = copysets_end(st, &new.first, &new.id);
	if (rc)
		return rc;
	if (!design_is_of_iods(design, copies, all.n))
		return -EINVAL;
	if (new.id == RINGS_MAX || new.n > COPYSET_END - new.first)
		return -ENOSPC;
	rc = put_design(st, &new, design);
	if (!rc)
		*ring = new;
	return rc;
}
