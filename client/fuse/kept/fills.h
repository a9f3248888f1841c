/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fills.h - pages that the kernel asks for while a program writes to them.
 *
 * A write(2) changes the kernel's page, lets go of it, and sends us the bytes.  Meanwhile
 * the kernel may drop that page, as the file has another time, and ask for it anew; what
 * it is told then stays, with the bytes of before, when the write has returned.  So what
 * was read beside a write is not told: it is read again behind it.
 *
 *	writer  changes the page |---------- WRITE ----------|
 *	another     drops it, asks |-- READ --| (not told)    |-- READ --| told
 *
 * What was told before the WRITE came cannot be taken back.
 */
#ifndef FILLS_H
#define FILLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct fills;

/* A READ of pages, or a WRITE, from the kernel's request to our answer: the caller's,
 * who sets the first three. */
struct fill {
	uint64_t file; /* handle */
	uint64_t from, to; /* bytes [from, to) of it */

	bool write, overtaken; /* fills.c's, like all below */
	LIST_ENTRY(fill) link;
};

/* NULL: there is no memory. */
struct fills *fills_new(void);
void fills_free(struct fills *f);

/* Before pages are read: waits for the writes of them that are under way.  0;
 * or -ETIMEDOUT at until (clock_now()), and nothing was begun. */
int fills_begin(struct fills *f, struct fill *x, uint64_t until);
/* They are read.  False: a write of them came meanwhile, so they are to be read anew.  A
 * page that is asked for is locked, so the writes that may come are those that had
 * changed it before. */
bool fills_end(struct fills *f, struct fill *x);

/* Around a write, from before it is begun to before it is answered.  Of an append it is not
 * known where it lands: from where the kernel believes the end to be, which is in the
 * last page that it asks for or behind that, to the end of all files. */
void fills_write(struct fills *f, struct fill *x);
void fills_written(struct fills *f, struct fill *x);

#endif
