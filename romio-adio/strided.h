/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * strided.h - one access, prepared by the thread that calls MPI, and executed by any
 * thread.  The execution makes no MPI calls.
 */
#ifndef STRIDED_H
#define STRIDED_H

#include <fcntl.h>

#include "romio-adio/ad_pvfs.h"
#include "romio-adio/tiles.h"

/*
 * Allocation hints: the larger buffer that contains pieces of memory, so that it is registered once
 * instead of each piece.
 *
 * It is computed from the data type if that can only describe one array (vectors,
 * subarrays and types built from them).  Its span is then memory of the program.  A list
 * of displacements may join two arrays.  Then there is no hint, and libpvfs groups the
 * pieces itself.
 */
struct span {
	bool known;
	int64_t start, len; /* address and bytes of the whole buffer */
};

/* A flattened data type.  Its lists are copies if they must outlive the call. */
struct flat {
	struct tile tile;
	/* a contiguous type has one block: its position and length */
	int64_t zero, whole;
	int64_t *copy;
};

struct strided {
	int fd; /* descriptor of libpvfs */
	bool own_fd; /* no other access uses fd */
	bool write;
	/* the access must be atomic with respect to all other accesses */
	bool atomic;
	struct flat mem_type, file_type;
	struct cursor mem, file;
	int64_t total; /* bytes of the access */
	struct span span;
	struct pieces m, f;
	char **hint;
	size_t *hint_len;

	/* state of the execution */
	struct cursor at_mem, at_file;
	int64_t done, want; /* bytes so far; bytes of the present call */
};

/* Parameters of a call of the library, in addition to the pieces. */
struct strided_call {
	char *const *mem;
	const size_t *mem_len;
	char *const *hint; /* NULL with hint_len: no hints */
	const size_t *hint_len;
};

#define STRIDED_WRITE 1u
/*
 * Copy the types' lists: the access is executed after the call that requested it, when the program
 * may have freed the types.
 */
#define STRIDED_KEEP 2u
/* One piece of the file: off counts its bytes, as in ADIO_ReadContig(). */
#define STRIDED_CONTIG 4u

/*
 * Prepares the access.  The other parameters are those of ADIO_ReadStrided().  Returns 0 or
 * -ENOMEM.  In both cases, call strided_free().
 */
int strided_init(struct strided *s, ADIO_File fd, unsigned int how,
		 const void *buf, int count, MPI_Datatype type, int ptr,
		 ADIO_Offset off);
/*
 * Executes the access, once.  Returns bytes, fewer than total only at the end of the
 * file; or -errno.
 */
int64_t strided_run(struct strided *s);
/*
 * These functions execute the access in steps, if total is not 0.  strided_next() prepares the next
 * call of the library.  strided_more() gets the number n of bytes that the call moved, and returns
 * true if there is more to do.
 */
void strided_first(struct strided *s);
void strided_next(struct strided *s, struct strided_call *call);
bool strided_more(struct strided *s, int64_t n);
/* The range that an atomic access locks. */
struct flock strided_range(const struct strided *s, int type);
/*
 * For an access in atomic mode that runs concurrently with others of this rank.  Locks belong to
 * the open file, so this function opens the file `name` once more for the access.  False: that
 * failed.
 */
bool strided_alone(struct strided *s, const char *name);
/* Returns the position in the file n bytes after the start. */
int64_t strided_place(const struct strided *s, int64_t n);
void strided_free(struct strided *s);

#endif
