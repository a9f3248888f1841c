/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - parts of objects that are read again and again, mapped and
 * registered, so that they are sent without a copy into a buffer.
 *
 * A window is made when a part of it is read for the second time: what is
 * streamed once is better off with read(2) and its read-ahead.  Windows are
 * bounded and go after two or three seconds without use, so that they hold no
 * space of removed objects.  Not for objects with holes: reading a hole of
 * tmpfs through a mapping allocates it.
 *
 * What a truncation takes away while it is being sent fails the send; that
 * breaks the connection, and the client asks again.
 *
 * Belongs to one thread.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <sys/queue.h>

#include "rpc.h"
#include "store_engine.h"

#define WINDOW_LEN (4u << 20)
#define WINDOW_MIN (64u << 10) /* less is copied */
#define WINDOW_GHOSTS 1024u

struct window;

/* How far a window that does not exist was read. */
struct window_ghost {
	uint64_t handle, index;
	uint32_t end;
};

struct windows {
	struct rpc_ctx *ctx;
	const struct store_engine *engine;
	struct window *table;
	TAILQ_HEAD(window_list, window) lru; /* least recent first */
	unsigned int n, max;
	uint64_t tick; /* of the timer */
	struct rpc_timer timer;
	struct window_ghost *ghosts; /* WINDOW_GHOSTS, or NULL: disabled */
};

/* max: bytes; less than one window disables them. */
void windows_open(struct windows *ws, struct rpc_ctx *ctx,
		  const struct store_engine *engine, uint64_t max);
void windows_close(struct windows *ws);

/*
 * The window with [off, off + *len) of obj, or with as much of the beginning
 * as lies in it: then *len is made less; registered
 * with the rail (rail.h).  NULL: read it yourself.
 */
struct window *window_get(struct windows *ws, struct store_obj *obj,
			  unsigned int rail, uint64_t off, uint64_t *len,
			  void **addr);
void window_put(struct window *win);
/* That much of obj is being read without a window. */
void window_note(struct windows *ws, const struct store_obj *obj, uint64_t off,
		 uint64_t len);
struct rail_mem *window_mem(struct window *win);

#endif
