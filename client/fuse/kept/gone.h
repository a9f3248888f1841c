/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gone.h - objects whose last name was removed here, and that the kernel still has: as
 * somebody's working directory, or open in a way that no daemon hears of (FIFOs,
 * sockets, devices, O_PATH).  Where the mgr knows nothing of them any more they are
 * what they were then, directories empty, and what is set since is set here.
 */
#ifndef GONE_H
#define GONE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct setattr;

#define GONE_MAX 65536u /* beyond that they are ESTALE */

struct gone;

struct gone *gone_new(void); /* NULL: no memory */
void gone_free(struct gone *g);

struct gone_was {
	struct stat st; /* by st_ino */
	uint32_t lacks; /* of LACKS (lacks.h) */
};

/* Before the kernel hears that it was removed, so before it forgets it. */
void gone_note(struct gone *g, const struct gone_was *was);
/* n: st_ino.  False: it is none of them. */
bool gone_is(struct gone *g, ino_t n, struct stat *st);
/* The mgr has it still, as it is open; it is like this now. */
void gone_renew(struct gone *g, const struct stat *st);
/* It is one that lacks what, of LACKS. */
bool gone_lacks(struct gone *g, ino_t n, uint32_t what);
/*
 * 0, and *st says how it is then; -ESTALE: it is none of them; -EPERM: uid is neither
 * its owner nor root, who alone sets owners.
 */
int gone_set(struct gone *g, ino_t n, uid_t uid, const struct setattr *how,
	     struct stat *st);
/* The kernel has forgotten it. */
void gone_forget(struct gone *g, ino_t n);

#endif
