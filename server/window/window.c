/* SPDX-License-Identifier: BSD-2-Clause */
/* window.c - mapped parts of objects, as windows. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/util/hash_table.h"
#include "server/window/window.h"

#define TICK_MS 1000u
/* a window used in the last ticks is not replaced by another */
#define TICKS_KEPT 2u
#define GRAIN (WINDOW_LEN / 64)

struct window {
	struct window_key key;
	struct store_obj *obj;
	unsigned int moved; /* store_obj_replacements() when it was mapped */
	void *addr;
	struct rail_mem mem;
	unsigned int refs;
	uint64_t tick; /* of the timer, at the last use */
	uint64_t grains; /* a bit for each grain whose page tables are filled */
	UT_hash_handle hh;
	TAILQ_ENTRY(window) lru;
};

static void drop_window(struct windows *ws, struct window *win)
{
	HASH_DEL(ws->table, win);
	TAILQ_REMOVE(&ws->lru, win, lru);
	ws->n--;
	rail_mem_fini(&win->mem);
	munmap(win->addr, WINDOW_LEN);
	store_obj_put(win->obj);
	free(win);
}

bool window_is_stale(const struct window *win)
{
	return win->moved != store_obj_replacements(win->obj);
}

/* Windows in use are checked again later. */
static void on_tick(struct rpc_timer *timer)
{
	struct windows *ws = container_of(timer, struct windows, timer);
	const struct store_obj *obj = NULL;
	struct window *win, *next;
	bool removed = false;

	for (win = TAILQ_FIRST(&ws->lru); win; win = next) {
		next = TAILQ_NEXT(win, lru);
		if (win->obj != obj)
			removed = store_obj_removed(win->obj);
		obj = win->obj;
		if (!win->refs && (removed || window_is_stale(win) ||
				   ws->tick - win->tick >= WINDOW_IDLE_S))
			drop_window(ws, win);
	}
	ws->tick++;
	if (ws->n)
		rpc_timer_set(ws->ctx, timer, clock_after_ms(TICK_MS));
}

void windows_open(struct windows *ws, struct rpc_ctx *ctx,
		  const struct store_engine *engine,
		  const struct object_store *store, uint64_t max)
{
	memset(ws, 0, sizeof(*ws));
	TAILQ_INIT(&ws->lru);
	ws->ctx = ctx;
	ws->engine = engine;
	ws->memory = store_in_memory(store);
	ws->max = (unsigned int)(max / WINDOW_LEN);
	ws->timer.fire = on_tick;
	if (ws->max && engine->map)
		ws->ghosts = calloc(WINDOW_GHOSTS, sizeof(ws->ghosts[0]));
}

void windows_close(struct windows *ws)
{
	struct window *win;

	rpc_timer_clear(ws->ctx, &ws->timer);
	while ((win = TAILQ_FIRST(&ws->lru)))
		drop_window(ws, win);
	free(ws->ghosts);
}

static struct window_ghost *ghost_of(struct windows *ws,
				     const struct window_key *key)
{
	const struct object_key *object = &key->object;
	uint64_t mix = (object->handle + object->copyset +
			key->index * 0x9e3779b97f4a7c15ull) *
		       0xff51afd7ed558ccdull;

	return &ws->ghosts[(mix >> 32) % WINDOW_GHOSTS];
}

static bool used_before(struct windows *ws, const struct window_key *key,
			uint32_t at)
{
	const struct window_ghost *g = ghost_of(ws, key);

	return object_key_equal(g->key.object, key->object) &&
	       g->key.index == key->index && at < g->end;
}

void window_note(struct windows *ws, const struct store_obj *obj, uint64_t off,
		 uint64_t len)
{
	struct window_key key = { store_obj_key(obj), off / WINDOW_LEN };
	uint64_t end = off % WINDOW_LEN + len;

	if (!ws->ghosts || len < WINDOW_MIN)
		return;
	*ghost_of(ws, &key) = (struct window_ghost){
		key, end < WINDOW_LEN ? (uint32_t)end : WINDOW_LEN
	};
}

static struct window *map_window(struct windows *ws,
				 const struct window_key *key,
				 struct store_obj *obj)
{
	unsigned int access = TP_VOLATILE | (ws->memory ? TP_LOCAL_WRITE : 0);
	struct window *win = calloc(1, sizeof(*win));

	if (!win)
		return NULL;
	win->key = *key;
	win->moved = store_obj_replacements(obj);
	win->addr = ws->engine->map(obj, key->index * WINDOW_LEN, WINDOW_LEN);
	if (!win->addr)
		goto free_win;
	rail_mem_init(&win->mem, win->addr, WINDOW_LEN, access);
	HASH_ADD(hh, ws->table, key, sizeof(win->key), win);
	if (!win->hh.tbl)
		goto unmap;
	win->obj = store_obj_ref(obj);
	TAILQ_INSERT_TAIL(&ws->lru, win, lru);
	ws->n++;
	return win;
unmap:
	munmap(win->addr, WINDOW_LEN);
free_win:
	free(win);
	return NULL;
}

/*
 * Does not replace windows that were used lately: windows that keep replacing each other cost
 * more than copying.
 */
static struct window *make_window(struct windows *ws,
				  const struct window_key *key,
				  struct store_obj *obj)
{
	struct window *oldest = TAILQ_FIRST(&ws->lru);
	struct window *win;

	if (ws->n >= ws->max) {
		if (oldest->refs || ws->tick - oldest->tick < TICKS_KEPT)
			return NULL;
		drop_window(ws, oldest);
	}
	win = map_window(ws, key, obj);
	if (win && !ws->timer.armed)
		rpc_timer_set(ws->ctx, &ws->timer, clock_after_ms(TICK_MS));
	return win;
}

/*
 * Sets *out to the window of this key, or to NULL if there is none.  Returns false if the key has a
 * window that is still in use, but of another file, which was removed or replaced.
 */
static bool find_window(struct windows *ws, const struct window_key *key,
			const struct store_obj *obj, struct window **out)
{
	struct window *win;

	HASH_FIND(hh, ws->table, key, sizeof(*key), win);
	if (win && (win->obj != obj || window_is_stale(win))) {
		if (win->refs)
			return false;
		drop_window(ws, win);
		win = NULL;
	}
	*out = win;
	return true;
}

static void mark_used(struct windows *ws, struct window *win)
{
	win->refs++;
	win->tick = ws->tick;
	TAILQ_REMOVE(&ws->lru, win, lru);
	TAILQ_INSERT_TAIL(&ws->lru, win, lru);
}

/*
 * Fills the page tables for the bytes that will be accessed, because a fault per page costs five
 * times as much.  In tmpfs, entries made for reading also serve writing.  This does not block,
 * because the pages are in memory.  It is tried only once per grain, because it fails on old
 * kernels and in the grain where the object ends.
 */
static void fill_page_tables(const struct windows *ws, struct window *win,
			     uint32_t at, uint64_t len)
{
	uint64_t first = at / GRAIN, last = (at + len - 1) / GRAIN;
	uint64_t want = (~0ull >> (63 - last)) & (~0ull << first);

	if (!ws->memory || !(want & ~win->grains))
		return;
	madvise((char *)win->addr + first * GRAIN, (last + 1 - first) * GRAIN,
		MADV_POPULATE_READ);
	win->grains |= want;
}

/* Not worth a window, even if there is one. */
static bool too_little(const struct windows *ws, const struct window_need *need)
{
	if (need->write && !ws->memory)
		return true;
	return need->bytes < WINDOW_MIN && !(ws->memory && need->pieces > 1);
}

static bool worth_making(struct windows *ws, const struct window_key *key,
			 const struct window_need *need)
{
	if (ws->memory && need->bytes >= WINDOW_EAGER)
		return true;
	if (ws->memory && need->pieces >= WINDOW_PIECES)
		return true;
	return used_before(ws, key, (uint32_t)(need->off % WINDOW_LEN));
}

static void increment_counter(atomic_uint_least64_t *n)
{
	atomic_store_explicit(n,
			      atomic_load_explicit(n, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static struct window *get_or_make(struct windows *ws,
				  const struct window_key *key,
				  struct store_obj *obj, struct window *found,
				  const struct window_need *need)
{
	struct window *win = found;

	if (!win && worth_making(ws, key, need))
		win = make_window(ws, key, obj);
	increment_counter(!win ? &ws->none : found ? &ws->hits : &ws->made);
	return win;
}

struct window *window_get(struct windows *ws, struct store_obj *obj,
			  const struct window_need *need)
{
	struct window_key key = { store_obj_key(obj), need->off / WINDOW_LEN };
	struct window *win;

	if (!ws->ghosts || too_little(ws, need) ||
	    !find_window(ws, &key, obj, &win))
		return NULL;
	win = get_or_make(ws, &key, obj, win, need);
	if (!win || rail_mem_on(&win->mem, rpc_ctx_rails(ws->ctx), need->rail))
		return NULL;
	mark_used(ws, win);
	return win;
}

void *window_address(const struct windows *ws, struct window *win, uint64_t off,
		     uint64_t *len)
{
	uint32_t at = (uint32_t)(off % WINDOW_LEN);

	if (off / WINDOW_LEN != win->key.index)
		return NULL;
	if (*len > WINDOW_LEN - at)
		*len = WINDOW_LEN - at;
	fill_page_tables(ws, win, at, *len);
	return (char *)win->addr + at;
}

void window_put(struct window *win)
{
	win->refs--;
}

struct rail_mem *window_mem(struct window *win)
{
	return &win->mem;
}
