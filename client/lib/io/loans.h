/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loans.h - what an open file has borrowed of its objects (lender.h).  It asks for an
 * object at the LOANS_AFTER-th call that could have used it: whoever opens a file and reads it
 * once pays nothing.
 */
#ifndef LOANS_H
#define LOANS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LOANS_AFTER 4u

struct dist;
struct loan_place;
struct session;

/* Zero at the start. */
struct loans {
	_Atomic(struct loan_place *) place; /* one a server of the file */
};

/* An open file, for one call. */
struct loans_file {
	struct loans *loans;
	struct session *s;
	uint64_t handle;
	const struct dist *dist;
	bool write; /* it is open for writing */
};
/*
 * Where the file ends, read from its objects themselves: by nobody else's work, if all
 * of them are lent.  False: they are not, ask the iods.
 */
bool loans_size(const struct loans_file *file, uint64_t *size);

/* Gives all back, of a file with n servers.  Nobody uses them. */
void loans_close(struct loans *loans, uint32_t n);
/* In a child after fork(), with one thread: there are none. */
void loans_forked(struct loans *loans, uint32_t n);

#endif
