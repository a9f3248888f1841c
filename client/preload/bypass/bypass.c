/* SPDX-License-Identifier: BSD-2-Clause */
/* bypass.c - see bypass.h. */
#include "client/preload/bypass/bypass.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "client/lib/profile/profile.h"
#include "client/preload/bypass/request_queue.h"
#include "client/preload/own_call.h"
#include "client/preload/own_process.h"
#include "common/util/clock.h"

/*
 * A session costs a millisecond or two.  A call through the mount costs some 50 us more
 * than one that bypasses it.
 */
#define CALLS_EACH 16u
#define BYTES_EACH (1u << 20)
#define CALLS_ALL 64u
#define BYTES_ALL (4u << 20)
#define SETTLE_MS 30000

static _Atomic(struct bypass *) bypass;

/* ---- fork ---- */

/* Returns the state if it exists and belongs to this process. */
static struct bypass *get_own_state(void)
{
	struct bypass *s = atomic_load(&bypass);

	return s && s->pid == own_process_id() ? s : NULL;
}

static void fork_prepare(void)
{
	struct bypass *s = get_own_state();

	own_call_enter();
	if (s)
		fuse_mounts_hold(&s->mounts);
}

static void fork_parent(void)
{
	struct bypass *s = get_own_state();

	if (s)
		fuse_mounts_release(&s->mounts);
	own_call_leave();
}

/* In a child after fork(): forgets the parent's state, whose memory is not freed. */
static void fork_child(void)
{
	struct bypass *s = atomic_load(&bypass);

	if (s) {
		fuse_mounts_release(&s->mounts);
		fuse_mounts_disown(&s->mounts);
		request_queue_abandon(atomic_exchange(&s->requests, NULL));
		atomic_store(&bypass, NULL);
	}
	own_process_enter_child();
	own_call_drop_held();
	own_call_leave();
}

/* ---- initialisation ---- */

static void begin_process(void)
{
	own_process_begin();
	if (!own_process_disabled() &&
	    pthread_atfork(fork_prepare, fork_parent, fork_child))
		own_process_disable();
}

/* Other constructors may make calls before ours has run. */
void bypass_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin_process);
}

/* Problems with a requested profile are always reported, whatever PVFS_LOG says. */
static void print_complaint(void *arg, enum log_level level, const char *msg)
{
	fprintf(stderr, "pvfs-preload: %s\n", msg);
}

static const struct log complaints = { LOG_LV_WARN, print_complaint, NULL };

static void read_threshold(struct desc_threshold *threshold)
{
	const char *text = secure_getenv("PVFS_PRELOAD_AFTER");
	char *end = "";
	unsigned long n = text ? strtoul(text, &end, 10) : 0;

	threshold->calls_each = CALLS_EACH;
	threshold->bytes_each = BYTES_EACH;
	threshold->calls_all = CALLS_ALL;
	threshold->bytes_all = BYTES_ALL;
	if (*end || end == text || (text && !isdigit((unsigned char)*text))) {
		log_warn(&complaints,
			 "PVFS_PRELOAD_AFTER=%s: want a number of calls; not "
			 "used",
			 text);
		return;
	}
	if (!text)
		return;
	threshold->calls_each = threshold->calls_all =
		n > 1000000 ? 1000000 : (unsigned int)n;
	threshold->bytes_each = threshold->bytes_all = UINT64_MAX;
	threshold->at_once = true;
}

/* Work of the helper. */
static enum helper_next check_files(void *arg)
{
	struct bypass *s = arg;
	bool remaining;

	if (atomic_load(&s->closing))
		return HELPER_END;
	fuse_mounts_connect(&s->mounts);
	pthread_mutex_lock(&s->sweep_lock);
	remaining = atomic_load(&s->closing) || desc_sweep(&s->descs, false);
	pthread_mutex_unlock(&s->sweep_lock);
	return remaining ? HELPER_AGAIN : HELPER_SLEEP;
}

static void create_state(void)
{
	struct bypass *s, *none = NULL;

	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return;
	s->pid = own_process_id();
	read_threshold(&s->descs.threshold);
	fuse_mounts_init(&s->mounts);
	profile_begin(&complaints);
	pthread_mutex_init(&s->sweep_lock, NULL);
	helper_init(&s->helper, check_files, s);
	s->descs.mounts = &s->mounts;
	s->descs.helper = &s->helper;
	if (!atomic_compare_exchange_strong(&bypass, &none, s))
		munmap(s, sizeof(*s));
}

struct bypass *bypass_existing(void)
{
	struct bypass *s = get_own_state();

	return s && !atomic_load(&s->closing) && !atomic_load(&s->paused)
		       ? s
		       : NULL;
}

struct bypass *bypass_get(void)
{
	bypass_begin();
	if (own_process_disabled())
		return NULL;
	/* a child of vfork() shares our memory, and would leave its state there */
	if (!atomic_load(&bypass) && own_process_is_here())
		create_state();
	return bypass_existing();
}

/* ---- calls of the program ---- */

struct request_queue *bypass_requests(void)
{
	struct bypass *s = bypass_existing();

	return s ? atomic_load(&s->requests) : NULL;
}

bool bypass_find_file(int fd, struct desc_use *use)
{
	struct bypass *s = bypass_existing();

	return desc_find(s ? &s->descs : NULL, fd, use);
}

bool bypass_open_written_file(int fd, struct desc_use *use)
{
	struct bypass *s = bypass_existing();

	return s && written_files_open(&s->written, &s->mounts, fd, use);
}

bool bypass_has_written(int fd)
{
	struct bypass *s = bypass_existing();

	return s && written_files_have(&s->written, fd);
}

void bypass_close(int fd)
{
	struct bypass *s;

	if (own_call_active())
		return;
	own_call_enter();
	s = bypass_existing();
	if (s)
		desc_close(&s->descs, fd);
	own_call_leave();
}

void bypass_refresh_size(int fd)
{
	struct bypass *s;

	if (fd < 0 || own_call_active())
		return;
	own_call_enter();
	s = bypass_existing();
	if (s)
		desc_refresh(&s->descs, fd);
	own_call_leave();
}

/* ---- end of the process, or of its program ---- */

static void end_sessions(struct bypass *s)
{
	deadline_begin();
	desc_sweep(&s->descs, true);
	fuse_mounts_leave(&s->mounts);
}

__attribute__((destructor)) void bypass_end(void)
{
	struct bypass *s = bypass_existing();
	unsigned int bypassed;

	if (!s)
		return;
	own_call_enter();
	/* not freed: other threads may still wait in it */
	request_queue_drain(atomic_exchange(&s->requests, NULL));
	atomic_store(&s->closing, true);
	if (!pthread_mutex_trylock(&s->sweep_lock))
		end_sessions(s);
	profile_write();
	bypassed = atomic_load(&s->descs.bypass_calls);
	log_info(&s->mounts.log, "%u of %u calls went past the mount", bypassed,
		 bypassed + atomic_load(&s->descs.kernel_calls));
	own_call_leave();
}

/* Waits for a limited time until no request is in flight. */
static void settle_requests(void)
{
	uint64_t end = clock_after_ms(SETTLE_MS);

	while (!request_queue_is_empty(bypass_requests()) && clock_now() < end)
		request_queue_wait(bypass_requests(), end);
}

/* Other threads may be inside calls; the state that these use ends with them. */
struct bypass *bypass_pause(void)
{
	struct bypass *s = own_call_active() ? NULL : bypass_existing();
	int saved = errno;

	if (!own_call_active())
		profile_write();
	if (!s)
		return NULL;
	settle_requests();
	own_call_enter();
	if (!atomic_exchange(&s->paused, true)) {
		pthread_mutex_lock(&s->sweep_lock);
		end_sessions(s);
		pthread_mutex_unlock(&s->sweep_lock);
	}
	own_call_leave();
	errno = saved;
	return s;
}

void bypass_resume(struct bypass *paused)
{
	if (paused)
		atomic_store(&paused->paused, false);
}
