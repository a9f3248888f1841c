/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window.h - parts of objects, mapped and registered.  Data that is read repeatedly is sent
 * from a window, and data that is overwritten is received into one, without a copy into a
 * buffer.
 *
 * A window is made when a part of it is read for the second time.  Data that is streamed once
 * is faster with read(2) and its read-ahead.  In a store in memory, a large access makes a
 * window at once, and so do many small pieces, because each would be a system call.  The number
 * of windows is bounded.  A window is dropped when its object is removed or replaced, or after
 * WINDOW_IDLE_S without use.
 *
 * Objects with holes are not read through windows: that would allocate the holes in tmpfs.
 * Writes use windows only in a store in memory, and only where store_obj_present().  Pages
 * there neither wait for a disk nor need space.  A new page costs two to three times as much
 * through a mapping as by write(2).
 *
 * If a truncation cuts a window during a transfer, the transfer fails and its connection
 * breaks.  Then the client repeats the request.
 *
 * Each struct windows belongs to one thread.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "common/comm/rpc.h"
#include "server/store/store_engine.h"

#define WINDOW_LEN (4u << 20)
#define WINDOW_MIN (64u << 10) /* fewer bytes are copied */
/* in a store in memory, an access of at least so many bytes makes a window at once */
#define WINDOW_EAGER (256u << 10)
/* in a store in memory, at least so many small pieces make a window at once */
#define WINDOW_PIECES 64u
#define WINDOW_GHOSTS 1024u
#define WINDOW_IDLE_S 10u

struct window;

/* Tables compare it as bytes: it has no padding. */
struct window_key {
	struct object_key object;
	uint64_t index; /* offset / WINDOW_LEN */
};

/* How far the part of an object that window `index` would cover was accessed without a window. */
struct window_ghost {
	struct window_key key;
	uint32_t end;
};

struct windows {
	struct rpc_ctx *ctx;
	const struct store_engine *engine;
	struct window *table;
	TAILQ_HEAD(window_list, window) lru; /* least recently used first */
	unsigned int max;
	atomic_uint n;
	/* uses with an existing window, with a new one, without one */
	atomic_uint_least64_t hits, made, none;
	bool memory; /* the store is in memory, so windows are writable */
	uint64_t tick; /* counts runs of the timer */
	struct rpc_timer timer;
	/* WINDOW_GHOSTS of them, or NULL: windows are disabled */
	struct window_ghost *ghosts;
};

/*
 * Opens ws without windows. max: the limit of the bytes of all windows.  If it is less than
 * WINDOW_LEN, no window is ever mapped.
 */
void windows_open(struct windows *ws, struct rpc_ctx *ctx,
		  const struct store_engine *engine,
		  const struct object_store *store, uint64_t max);
void windows_close(struct windows *ws);

/* An access that may use a window. */
struct window_need {
	uint64_t off; /* of the first byte; it selects the window */
	unsigned int rail; /* the rail over which the data moves */
	bool write;
	/* the part of the access in this window, or at least as much of it as decides */
	uint64_t bytes;
	unsigned int pieces;
};
/*
 * Returns the window that contains need->off of obj, registered with the rail (rail.h).  The
 * caller puts it.  NULL: access the object without a window.
 */
struct window *window_get(struct windows *ws, struct store_obj *obj,
			  const struct window_need *need);
/*
 * Returns the address of the object's byte at off, and reduces *len to the bytes that follow in
 * this window.  NULL: the byte lies in another window.
 */
void *window_address(const struct windows *ws, struct window *win, uint64_t off,
		     uint64_t *len);
void window_put(struct window *win);
/* The object's file was replaced since the window was mapped (store_obj_replace()). */
bool window_is_stale(const struct window *win);
/* Records that this range of obj is accessed without a window. */
void window_note(struct windows *ws, const struct store_obj *obj, uint64_t off,
		 uint64_t len);
struct rail_mem *window_mem(struct window *win);

#endif
