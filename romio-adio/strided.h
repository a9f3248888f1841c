/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * strided.h - one access, made ready by the thread that calls MPI and then
 * carried out by any: carrying it out asks nothing of MPI.
 */
#ifndef STRIDED_H
#define STRIDED_H

#include <fcntl.h>

#include "romio-adio/ad_pvfs.h"
#include "romio-adio/span.h"
#include "romio-adio/tiles.h"

/* A data type, flattened; its lists are copies where they outlive the call. */
struct flat {
	struct tile tile;
	int64_t zero, whole; /* the only block of a contiguous one */
	int64_t *copy;
};

struct strided {
	int fd; /* of libpvfs */
	bool own_fd; /* ... that nobody else has */
	bool write;
	bool atomic; /* all of it or nothing, to every other access */
	struct flat mem_type, file_type;
	struct cursor mem, file;
	int64_t total; /* bytes */
	struct span span;
	struct pieces m, f;
	char **hint;
	size_t *hint_len;

	/* being carried out */
	struct cursor at_mem, at_file;
	int64_t done, want; /* bytes: so far, of the present call */
};

/* What a call of the library takes, besides the pieces. */
struct strided_call {
	char *const *mem;
	const size_t *mem_len;
	char *const *hint; /* or NULL, both */
	const size_t *hint_len;
};

#define STRIDED_WRITE 1u
/* Carried out after the call that asked for it, when the types may be gone. */
#define STRIDED_KEEP 2u
/* One piece of the file: off counts its bytes, as with ADIO_ReadContig(). */
#define STRIDED_CONTIG 4u

/* The rest as of ADIO_ReadStrided().  0 or -ENOMEM. */
int strided_init(struct strided *s, ADIO_File fd, unsigned int how,
		 const void *buf, int count, MPI_Datatype type, int ptr,
		 ADIO_Offset off);
/* Bytes, less than total only at the end of the file; or -errno.  Once. */
int64_t strided_run(struct strided *s);
/* The same in steps, if there is something to do: the next call; it moved n bytes,
 * is there more? */
void strided_first(struct strided *s);
void strided_next(struct strided *s, struct strided_call *call);
bool strided_more(struct strided *s, int64_t n);
/* What an atomic one locks meanwhile. */
struct flock strided_range(const struct strided *s, int type);
/*
 * For an access that is carried out beside others of this rank, in atomic mode:
 * locks are the open file's, so it gets one for itself.  name is the file's.
 * False: it cannot.
 */
bool strided_alone(struct strided *s, const char *name);
/* Where the file's next byte is, n bytes after the start. */
int64_t strided_place(const struct strided *s, int64_t n);
void strided_free(struct strided *s);

#endif
