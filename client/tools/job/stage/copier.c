/* SPDX-License-Identifier: BSD-2-Clause */
/* copier.c - a node's part of a staging: copies the files that it is told. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/number.h"
#include "client/tools/files/copy/copy.h"
#include "client/tools/job/parts/greet.h"
#include "client/tools/job/stage/stage.h"

#define FEEDERS 2u
#define COPIERS 4u
#define TICK_MS 1000
#define MEET_MS 10000u
/* ms; less than LEAVE_MS of team.c, for which the staging waits */
#define LEAVE_MS 3000u

/* A file to be copied. */
struct order {
	STAILQ_ENTRY(order) link;
	uint64_t number, hash;
	bool known; /* hash is known */
	char *from, *to;
};

struct copier {
	struct copy copy;
	pthread_mutex_t lock; /* protects the link and the orders */
	pthread_cond_t more;
	struct job_link link;
	STAILQ_HEAD(, order) orders;
	unsigned int sent_unsupported;
	bool over;
};

static const struct tool tool = { .name = "pvfs-job copier" };

static void free_order(struct order *o)
{
	free(o->from);
	free(o->to);
	free(o);
}

static struct order *next_order(struct copier *c)
{
	struct order *o;

	pthread_mutex_lock(&c->lock);
	while (!(o = STAILQ_FIRST(&c->orders)) && !c->over)
		pthread_cond_wait(&c->more, &c->lock);
	if (o)
		STAILQ_REMOVE_HEAD(&c->orders, link);
	pthread_mutex_unlock(&c->lock);
	return o;
}

/*
 * Sent before the result of the file, because the receiver reads nothing after the result
 * of the last file.
 */
static void send_unsupported(struct copier *c)
{
	unsigned int unsupported = atomic_load(&c->copy.unsupported);

	if (unsupported == c->sent_unsupported)
		return;
	c->sent_unsupported = unsupported;
	link_say(&c->link, "lacks %u\n", unsupported);
}

static void send_result(struct copier *c, const char *what, uint64_t number,
			const struct stat *st, uint64_t hash)
{
	pthread_mutex_lock(&c->lock);
	send_unsupported(c);
	link_say(&c->link,
		 "%s %" PRIu64 " %" PRIu64 " %" PRId64 " %o %016" PRIx64 "\n",
		 what, number, (uint64_t)st->st_size, stage_mtime(st),
		 st->st_mode & 07777, hash);
	pthread_mutex_unlock(&c->lock);
}

static void send_failure(struct copier *c, uint64_t number, const char *why)
{
	pthread_mutex_lock(&c->lock);
	link_say(&c->link, "fail %" PRIu64 " %s\n", number, why);
	pthread_mutex_unlock(&c->lock);
}

static const char *text_of(int err)
{
	return err ? strerror(err) : "see what was said";
}

/*
 * Whether the source has changed since f->st was read.  Then the copy may mix the old and the new
 * content.
 */
static bool has_changed(const struct copy_file *f)
{
	struct stat now;

	return pvfs_lstat(f->from, &now) || now.st_size != f->st.st_size ||
	       stage_mtime(&now) != stage_mtime(&f->st);
}

/* The copy was read back and compared while it was made. */
static void file_ended(void *arg, const struct copy_file *f, bool ok)
{
	struct copier *c = arg;
	uint64_t hash = 0;
	int rc = ok ? stage_hash(f->to, &hash) : 0;

	if (!ok || rc)
		send_failure(c, f->tag,
			     text_of(rc ? -rc : atomic_load(&c->copy.error)));
	else if (has_changed(f))
		send_failure(c, f->tag, "it changed while it was copied");
	else
		send_result(c, "done", f->tag, &f->st, hash);
}

/*
 * Whether the target has the content of the source already, and needs no copy.  Sets *hash to the
 * target's hash.
 */
static bool target_is_right(const struct order *o, const struct stat *st,
			    uint64_t *hash)
{
	struct stat to;
	uint64_t source = o->hash;

	if (pvfs_lstat(o->to, &to) || to.st_size != st->st_size ||
	    !S_ISREG(to.st_mode) || stage_hash(o->to, hash))
		return false;
	if (!o->known && stage_hash(o->from, &source))
		return false;
	return source == *hash;
}

static void carry_out(struct copier *c, const struct order *o)
{
	uint64_t hash;
	struct stat st;

	if (pvfs_lstat(o->from, &st))
		send_failure(c, o->number, text_of(errno));
	else if (!S_ISREG(st.st_mode))
		send_failure(c, o->number, "it is no file any more");
	else if (target_is_right(o, &st, &hash) &&
		 !copy_attrs(&c->copy, o->from, o->to, &st))
		send_result(c, "same", o->number, &st, hash);
	else if (copy_file_start(&c->copy, o->from, o->to, &st, o->number,
				 NULL))
		send_failure(c, o->number,
			     text_of(atomic_load(&c->copy.error)));
}

static void *carry_out_orders(void *arg)
{
	struct copier *c = arg;
	struct order *o;

	while ((o = next_order(c))) {
		carry_out(c, o);
		free_order(o);
	}
	return NULL;
}

/* "file N HASH|- FROM TO" */
static int take_order(struct copier *c, char *line)
{
	char *save = NULL, *word = strtok_r(line, " ", &save),
	     *number = strtok_r(NULL, " ", &save),
	     *hash = strtok_r(NULL, " ", &save),
	     *from = strtok_r(NULL, " ", &save),
	     *to = strtok_r(NULL, " ", &save);
	struct order *o;

	if (!to || strcmp(word, "file") || link_unescape(from) ||
	    link_unescape(to))
		return -EPROTO;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->known = strcmp(hash, "-") != 0;
	if (number_parse(number, UINT64_MAX, &o->number) ||
	    (o->known && number_parse_hex(hash, UINT64_MAX, &o->hash))) {
		free_order(o);
		return -EPROTO;
	}
	o->from = strdup(from);
	o->to = strdup(to);
	if (!o->from || !o->to) {
		free_order(o);
		return -ENOMEM;
	}
	STAILQ_INSERT_TAIL(&c->orders, o, link);
	pthread_cond_signal(&c->more);
	return 0;
}

static int take_orders(struct copier *c)
{
	char *line;

	while ((line = link_line(&c->link)))
		if (take_order(c, line))
			return -EPROTO;
	return 0;
}

static int receive_orders(struct copier *c)
{
	int rc = link_fill(&c->link), bad = take_orders(c);

	return bad ? bad : rc;
}

/* Takes the orders that were received together with the welcome. poll() does not report them. */
static int take_first_orders(struct copier *c)
{
	int rc;

	pthread_mutex_lock(&c->lock);
	rc = take_orders(c);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

/* Sends a sign of life each second, however long the files take. */
static int handle_events(struct copier *c)
{
	struct pollfd p = { .fd = c->link.fd, .events = POLLIN };
	int rc = poll(&p, 1, TICK_MS);

	pthread_mutex_lock(&c->lock);
	rc = rc > 0 ? receive_orders(c) : link_say(&c->link, "tick\n");
	if (!rc)
		rc = link_flush(&c->link);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

static int connect_to_staging(struct copier *c, const char *where)
{
	uint64_t deadline = clock_after_ms(MEET_MS);
	const char *text = secure_getenv("PVFS_JOB_KEY");
	uint8_t key[MAC_KEY_LEN];
	struct job_addr addr;

	if (!text || job_key_parse(text, key) || job_parse_addr(where, &addr))
		return -EINVAL;
	unsetenv("PVFS_JOB_KEY");
	return greet_meet(&c->link, &addr, key, "copier", 0, deadline);
}

static void start_threads(struct copier *c)
{
	pthread_t t;

	for (unsigned int i = 0; i < FEEDERS; i++)
		if (!pthread_create(&t, NULL, carry_out_orders, c))
			pthread_detach(t);
	for (unsigned int i = 0; i < COPIERS; i++)
		if (!pthread_create(&t, NULL, copy_pieces, &c->copy))
			pthread_detach(t);
}

int cmd_copier(int argc, char **argv)
{
	static struct copier c = {
		.copy = { .tool = &tool,
			  .opt = { .preserve = true,
				   .verify = true,
				   .nofollow = true,
				   .xattrs = true,
				   .block = 4u << 20,
				   .meta = { -1, -1, -1, 0, 0 } },
			  .ended = file_ended,
			  .arg = &c },
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.more = PTHREAD_COND_INITIALIZER,
	};
	uint64_t deadline;
	int rc;

	copy_signals_begin();
	rc = argc == 2 ? connect_to_staging(&c, argv[1]) : -EINVAL;
	if (rc)
		return tool_say(&tool, "the way to the staging: %s",
				strerror(-rc));
	STAILQ_INIT(&c.orders);
	c.copy.queue = copy_queue_new(256);
	if (!c.copy.queue)
		return tool_fail(&tool, "queue");
	c.copy.umask = umask(0);
	umask(c.copy.umask);
	copy_signals_hear(&c.copy);
	start_threads(&c);
	rc = take_first_orders(&c);
	while (!rc && !atomic_load(&c.copy.interrupted))
		rc = handle_events(&c);
	/*
	 * the rest is not wanted: files that still have temporary names are removed, if
	 * that is quick
	 */
	atomic_store(&c.copy.interrupted, SIGTERM);
	deadline = clock_after_ms(LEAVE_MS);
	while (atomic_load(&c.copy.open) && clock_now() < deadline)
		usleep(10000);
	_exit(0);
}
