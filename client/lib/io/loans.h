/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loans.h - the objects that an open file has borrowed (loan.h).  The file asks for an
 * object at the LOANS_AFTER-th call that could have used it.  So a program that opens a
 * file and reads it once pays nothing.
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

/* Initialised with zeros. */
struct loans {
	/* one for each server of the file */
	_Atomic(struct loan_place *) place;
};

/* The open file of a call, and its session. */
struct loans_file {
	struct loans *loans;
	struct session *s;
	uint64_t handle;
	const struct dist *dist;
	bool write; /* it is open for writing */
};
/*
 * Computes the size of the file from its borrowed objects, without a request.  False: not
 * all objects are lent; ask the iods.
 */
bool loans_size(const struct loans_file *file, uint64_t *size);

/* Returns all loans of a file with n servers.  No thread uses them. */
void loans_close(struct loans *loans, uint32_t n);
/* In a child after fork(), which has one thread: drops all loans. */
void loans_forked(struct loans *loans, uint32_t n);

#endif
