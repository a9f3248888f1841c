/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gone.h - objects whose last name was removed here, and that the kernel still has.
 * They are working directories, or are open without requests to the daemon (FIFOs,
 * sockets, devices, O_PATH).  If the manager no longer knows an object, it has the
 * attributes of its removal, directories are empty, and changes of attributes apply
 * only here.
 */
#ifndef GONE_H
#define GONE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct setattr;

#define GONE_MAX 65536u /* further objects give ESTALE */

struct gone;

struct gone *gone_new(void); /* NULL: no memory */
void gone_free(struct gone *g);

struct gone_was {
	struct stat st; /* identified by st_ino */
	uint32_t lacks; /* of LACKS (lacks.h) */
};

/* Called before the kernel learns of the removal, so before it forgets the object. */
void gone_note(struct gone *g, const struct gone_was *was);
/* n: st_ino.  False: the object is not recorded. */
bool gone_is(struct gone *g, ino_t n, struct stat *st);
/*
 * The manager still has the object, because it is open: records its current attributes.
 */
void gone_renew(struct gone *g, const struct stat *st);
/* True: the object is recorded, and lacks what, one of LACKS. */
bool gone_lacks(struct gone *g, ino_t n, uint32_t what);
/*
 * Changes attributes.  0: *st holds the result.  -ESTALE: the object is not recorded.
 * -EPERM: uid is neither its owner nor root; only root may change owners.
 */
int gone_set(struct gone *g, ino_t n, uid_t uid, const struct setattr *how,
	     struct stat *st);
/* The kernel has forgotten the object. */
void gone_forget(struct gone *g, ino_t n);

#endif
