/* SPDX-License-Identifier: BSD-2-Clause */
/* self.c - see self.h. */
#include "client/preload/self.h"

#include <ctype.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/preload/pid.h"
#include "client/lib/profile/profile.h"
#include "client/preload/wrote.h"

/*
 * A session costs a millisecond or two.  A call through the mount costs some 50 us more
 * than one that bypasses it.
 */
#define CALLS_EACH 16u
#define BYTES_EACH (1u << 20)
#define CALLS_ALL 64u
#define BYTES_ALL (4u << 20)

atomic_uchar numbers[NUMBERS], number_appended[NUMBERS];
__thread volatile sig_atomic_t self_inside SIGNALS_TLS;
static _Atomic(struct self *) self;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool off;
static pid_t here;

bool self_is_here(void)
{
	return here == pid_now();
}

/* ---- fork ---- */

/* Returns the state if it exists and belongs to this process. */
static struct self *own(void)
{
	struct self *s = atomic_load(&self);

	return s && s->pid == pid_now() ? s : NULL;
}

static void fork_prepare(void)
{
	struct self *s = own();

	self_enter();
	if (s)
		doors_hold(&s->doors);
}

static void fork_parent(void)
{
	struct self *s = own();

	if (s)
		doors_release(&s->doors);
	self_leave();
}

/* The parent's state stays in memory, unused. */
static void fork_child(void)
{
	struct self *s = atomic_load(&self);

	if (s) {
		doors_release(&s->doors);
		doors_disown(&s->doors);
		requests_end(s, true);
		wrote_forked();
		atomic_store(&self, NULL);
	}
	here = pid_now();
	signals_forget();
	self_leave();
}

/* ---- initialisation ---- */

static void begin(void)
{
	const char *how = secure_getenv("PVFS_PRELOAD");

	here = pid_now();
	if (getauxval(AT_SECURE) || (how && !strcmp(how, "off")) ||
	    pthread_atfork(fork_prepare, fork_parent, fork_child))
		atomic_store(&off, true);
}

__attribute__((constructor)) static void start(void)
{
	pthread_once(&once, begin);
}

/* Problems with a requested profile are always reported, whatever PVFS_LOG says. */
static void complain(void *arg, enum log_level level, const char *msg)
{
	fprintf(stderr, "pvfs-preload: %s\n", msg);
}

static const struct log complaints = { LOG_LV_WARN, complain, NULL };

static void when_it_pays(struct self *s)
{
	const char *text = secure_getenv("PVFS_PRELOAD_AFTER");
	char *end = "";
	unsigned long n = text ? strtoul(text, &end, 10) : 0;

	s->calls_each = CALLS_EACH;
	s->bytes_each = BYTES_EACH;
	s->calls_all = CALLS_ALL;
	s->bytes_all = BYTES_ALL;
	if (*end || end == text || (text && !isdigit((unsigned char)*text))) {
		log_warn(&complaints,
			 "PVFS_PRELOAD_AFTER=%s: want a number of calls; not "
			 "used",
			 text);
		return;
	}
	if (!text)
		return;
	s->calls_each = s->calls_all = n > 1000000 ? 1000000 : (unsigned int)n;
	s->bytes_each = s->bytes_all = UINT64_MAX;
	s->at_once = true;
}

static struct self *make(void)
{
	struct self *s, *none = NULL;
	pthread_condattr_t mono;

	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return NULL;
	s->pid = pid_now();
	when_it_pays(s);
	doors_init(&s->doors);
	profile_begin(&complaints);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->scan, NULL);
	pthread_condattr_init(&mono);
	pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
	pthread_cond_init(&s->work, &mono);
	pthread_condattr_destroy(&mono);
	if (atomic_compare_exchange_strong(&self, &none, s))
		return s;
	munmap(s, sizeof(*s));
	return none;
}

struct self *self_there(void)
{
	struct self *s = own();

	return s && !atomic_load(&s->closing) && !atomic_load(&s->paused)
		       ? s
		       : NULL;
}

struct self *self_get(void)
{
	pthread_once(&once, begin);
	if (atomic_load(&off))
		return NULL;
	/* a child of vfork() shares our memory, and would leave its state there */
	if (!atomic_load(&self) && self_is_here())
		make();
	return self_there();
}

/* ---- end of the process ---- */

__attribute__((destructor)) void self_end(void)
{
	struct self *s = self_there();

	if (!s)
		return;
	self_enter();
	requests_end(s, false);
	atomic_store(&s->closing, true);
	if (!pthread_mutex_trylock(&s->scan)) {
		deadline_begin();
		desc_sweep(s, true);
		doors_leave(&s->doors);
	}
	profile_write();
	log_info(&s->doors.log, "%u of %u calls went past the mount",
		 atomic_load(&s->past),
		 atomic_load(&s->past) + atomic_load(&s->calls));
	self_leave();
}
