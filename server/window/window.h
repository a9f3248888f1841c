/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - parts of objects, mapped and registered, so that what is read
 * again and again is sent, and what is overwritten is received, without a
 * copy into a buffer.
 *
 * A window is made when a part of it is read for the second time: what is
 * streamed once is better off with read(2) and its read-ahead.  In a store in
 * memory much of it makes one at once, and so do many small pieces: each
 * would be a system call.  Windows are bounded, and go when their object was
 * removed or after WINDOW_IDLE_S without use.
 *
 * For reading no object with holes: that would allocate a hole of tmpfs.  For
 * writing only a store in memory, and only what store_obj_present(): pages
 * there neither wait for a disk nor meet a full one, while a new page costs
 * two to three times as much through a mapping as by write(2).
 *
 * What a truncation takes away during a transfer fails it; that breaks the
 * connection, and the client asks again.
 *
 * Belongs to one thread.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "common/comm/rpc.h"
#include "server/store/store_engine.h"

#define WINDOW_LEN (4u << 20)
#define WINDOW_MIN (64u << 10) /* less is copied */
#define WINDOW_EAGER (256u << 10) /* makes one at once, in memory, */
#define WINDOW_PIECES 64u /* and so do as many small ones */
#define WINDOW_GHOSTS 1024u
#define WINDOW_IDLE_S 10u

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
	unsigned int max;
	atomic_uint n;
	atomic_uint_least64_t hits, made, none; /* none: no room, or not yet */
	bool memory; /* the store is in memory: windows are writable */
	uint64_t tick; /* of the timer */
	struct rpc_timer timer;
	struct window_ghost *ghosts; /* WINDOW_GHOSTS, or NULL: disabled */
};

/* max: bytes; less than one window disables them. */
void windows_open(struct windows *ws, struct rpc_ctx *ctx,
		  const struct store_engine *engine, const struct store *store,
		  uint64_t max);
void windows_close(struct windows *ws);

/* What somebody is about to do with a window. */
struct window_need {
	uint64_t off; /* of the first byte, which chooses the window */
	unsigned int rail; /* that the data moves over */
	bool write;
	/* from there on and in the window; no more than decides it */
	uint64_t bytes;
	unsigned int pieces;
};
/*
 * The window around need->off of obj, registered with the rail (rail.h).
 * NULL: read or write it yourself.
 */
struct window *window_get(struct windows *ws, struct store_obj *obj,
			  const struct window_need *need);
/*
 * Where the object's byte at off is, and how many of *len bytes follow there;
 * NULL: in another window.
 */
void *window_at(const struct windows *ws, struct window *win, uint64_t off,
		uint64_t *len);
void window_put(struct window *win);
/* Another file is the object's since it was mapped (store_set_aside()). */
bool window_moved(const struct window *win);
/* That much of obj is being read or written without a window. */
void window_note(struct windows *ws, const struct store_obj *obj, uint64_t off,
		 uint64_t len);
struct rail_mem *window_mem(struct window *win);

#endif
