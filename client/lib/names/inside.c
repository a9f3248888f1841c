/* SPDX-License-Identifier: BSD-2-Clause */
/* inside.c - GAUGES and TIMES: what a server has inside, and how long what takes it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/session/ask.h"
#include "client/lib/names/store.h"

_Static_assert(PVFS_GAUGES == WIRE_GAUGES_MAX, "pvfs.h");
_Static_assert(PVFS_TIMES == WIRE_TIMES_ALL, "pvfs.h");
_Static_assert(STORE_TIMES == WIRE_TIMES_MAX, "store.h");

static const char *const transports[WIRE_TRANSPORTS] = {
	[WIRE_TR_OTHER] = "other",
	[WIRE_TR_TCP] = "tcp",
	[WIRE_TR_LOCAL] = "local",
	[WIRE_TR_VERBS] = "verbs",
};
static const char *const queues[WIRE_QUEUES] = {
	[WIRE_Q_READ] = "read",	      [WIRE_Q_WRITE] = "write",
	[WIRE_Q_FLUSH] = "flush",     [WIRE_Q_CHANGE] = "change",
	[WIRE_Q_CONTROL] = "control", [WIRE_Q_LOG] = "log",
};
static const char *const ways[WIRE_WAYS] = {
	[WIRE_WAY_NONE] = "",	      [WIRE_WAY_INLINE] = "inline",
	[WIRE_WAY_FAST] = "fast",     [WIRE_WAY_BULK] = "bulk",
	[WIRE_WAY_MAPPED] = "mapped", [WIRE_WAY_DIRECT] = "direct",
};
static const char *const timed[WIRE_TM_QUEUE] = {
	[WIRE_TM_OTHER] = "other", [WIRE_TM_READ] = "read",
	[WIRE_TM_WRITE] = "write", [WIRE_TM_FLUSH] = "flush",
	[WIRE_TM_LOG] = "log",	   [WIRE_TM_CHECKPOINT] = "checkpoint",
};

enum by { BY_NONE, BY_TRANSPORT, BY_QUEUE, BY_SIZE };

struct known {
	const char *name;
	enum by by;
	unsigned int flags;
	const char *help;
};

#define NOW(n, by, help)                                                       \
	{                                                                      \
		n, BY_##by, 0, help                                            \
	}
#define TOTAL(n, by, help)                                                     \
	{                                                                      \
		n, BY_##by, PVFS_GAUGE_TOTAL, help                             \
	}

static const struct known known[] = {
	[WIRE_G_CONNECTIONS] = NOW("connections", NONE,
				   "Connections of clients and servers."),
	[WIRE_G_RUNNING] = NOW("requests_running", NONE,
			       "Requests that are not answered yet."),
	[WIRE_G_CLIENT_BYTES] =
		NOW("clients_bytes", NONE,
		    "Memory of connections and sessions, with kept replies."),
	[WIRE_G_BULK_WAITS] = TOTAL("bulk_waits", NONE,
				    "Transfers that waited for others to end."),
	[WIRE_G_CARRIED] = TOTAL("bulk_carried_bytes", NONE,
				 "Data that clients moved for the server."),
	[WIRE_G_BELIEVES] =
		NOW("auth_sys", NONE,
		    "1: auth = sys, clients of other hosts are believed."),
	[WIRE_G_REG_BYTES] = NOW("registered_bytes", TRANSPORT,
				 "Memory that is registered."),
	[WIRE_G_REG_PIECES] = NOW("registered_pieces", TRANSPORT,
				  "Pieces of it."),
	[WIRE_G_QUEUE_WAITING] = NOW("queue_waiting", QUEUE,
				     "Works that wait for a thread or a disk."),
	[WIRE_G_QUEUE_MOST] = NOW("queue_most", QUEUE,
				  "The most that ever waited."),
	[WIRE_G_QUEUE_WORKING] = NOW("queue_working", QUEUE,
				     "Threads at work."),
	[WIRE_G_QUEUE_STUCK] =
		NOW("queue_stuck", QUEUE,
		    "Those that the kernel keeps for long already."),
	[WIRE_G_ZONE_BUFFERS] = NOW("zone_buffers", SIZE,
				    "Buffers of that size."),
	[WIRE_G_ZONE_USED] = NOW("zone_used", SIZE, "Those in use."),
	[WIRE_G_ZONE_MOST] = NOW("zone_most", SIZE,
				 "The most that ever were in use."),
	[WIRE_G_ZONE_BYTES] = NOW("zones_bytes", NONE, "Memory of buffers."),
	[WIRE_G_ZONE_GIVEN] = TOTAL("zones_given", NONE,
				    "Buffers that were given."),
	[WIRE_G_ZONE_WAITS] = TOTAL("zones_waits", NONE,
				    "Transfers that waited for a buffer."),
	[WIRE_G_ZONE_BIGGER] = TOTAL("zones_bigger", NONE,
				     "Buffers bigger than fits."),
	[WIRE_G_ZONE_SMALLER] = TOTAL("zones_smaller", NONE,
				      "Buffers smaller than was wanted."),
	[WIRE_G_WINDOW_COUNT] = NOW("window_kept", NONE,
				    "Mapped parts of objects."),
	[WIRE_G_WINDOW_MAX] = NOW("window_max", NONE, "How many there may be."),
	[WIRE_G_WINDOW_HITS] = TOTAL("window_hits", NONE,
				     "Uses of one that was there."),
	[WIRE_G_WINDOW_MADE] = TOTAL("window_made", NONE,
				     "Those that were made for their use."),
	[WIRE_G_WINDOW_NONE] = TOTAL("window_none", NONE,
				     "Times when there was none to use."),
	[WIRE_G_DB_CACHE_BYTES] = NOW("db_cache_bytes", NONE,
				      "Cache of the data base."),
	[WIRE_G_DB_PAGES] = NOW("db_pages", NONE, "Pages in it."),
	[WIRE_G_DB_DIRTY] = NOW("db_dirty_pages", NONE,
				"Pages that are not written yet."),
	[WIRE_G_DB_HITS] = TOTAL("db_hits", NONE, "Pages found in it."),
	[WIRE_G_DB_MISSES] = TOTAL("db_misses", NONE,
				   "Pages that had to be read or made."),
	[WIRE_G_DB_WRITTEN] = TOTAL("db_written_pages", NONE,
				    "Pages that were written."),
	[WIRE_G_DB_EVICTED] = TOTAL("db_evicted_pages", NONE,
				    "Pages that gave room."),
	[WIRE_G_DB_COMMITS] = TOTAL("db_commits", NONE,
				    "Transactions that were committed."),
	[WIRE_G_DB_ABORTS] = TOTAL("db_aborts", NONE,
				   "Transactions that were undone."),
	[WIRE_G_DB_LOG_BYTES] = TOTAL("db_log_bytes", NONE,
				      "What was written to the log."),
	[WIRE_G_DB_LOG_SINCE] =
		NOW("db_log_unchecked_bytes", NONE,
		    "Log since the last checkpoint: a start reads it."),
	[WIRE_G_DB_LOG_FLUSHES] = TOTAL("db_log_flushes", NONE,
					"Flushes of the log."),
	[WIRE_G_LENT_KEPT] =
		NOW("lent_kept", NONE,
		    "Lent to evicted clients, and no room for a copy."),
};

struct taken {
	void *list;
	int n;
	uint32_t next;
};

/* NULL: it is not known here. */
static const char *name_of(const char *const *names, size_t n, uint32_t i)
{
	return i < n ? names[i] : NULL;
}

#define NAME(names, i) name_of(names, sizeof(names) / sizeof(names[0]), i)

static const char *const bys[] = {
	[BY_NONE] = "",
	[BY_TRANSPORT] = "transport",
	[BY_QUEUE] = "queue",
	[BY_SIZE] = "size",
};

/* False: which one that is is not known. */
static bool say_of(enum by by, uint32_t of, char *buf, size_t len)
{
	const char *name = by == BY_NONE	? ""
			   : by == BY_TRANSPORT ? NAME(transports, of)
			   : by == BY_QUEUE	? NAME(queues, of)
						: NULL;

	if (by == BY_SIZE)
		snprintf(buf, len, "%uKiB", (unsigned int)of);
	else
		snprintf(buf, len, "%s", name ? name : "");
	return by == BY_SIZE || name;
}

static bool take_gauge(const struct wire_gauge *from, struct pvfs_gauge *to)
{
	uint32_t name = le32toh(from->name);
	const struct known *k;

	if (name >= sizeof(known) / sizeof(known[0]) || !known[name].name)
		return false;
	k = &known[name];
	*to = (struct pvfs_gauge){ .help = k->help,
				   .flags = k->flags,
				   .value = le64toh(from->value) };
	snprintf(to->name, sizeof(to->name), "%s", k->name);
	snprintf(to->by, sizeof(to->by), "%s", bys[k->by]);
	return say_of(k->by, le32toh(from->of), to->of, sizeof(to->of));
}

static int take_gauges(void *arg, const struct wire_msg *reply)
{
	const struct wire_gauges_rep *rep = reply->body;
	const struct wire_gauge *gauge = reply->tail[0].ptr;
	struct taken *t = arg;
	struct pvfs_gauge *list = t->list;

	t->n = 0;
	for (uint32_t i = 0; i < le32toh(rep->n); i++)
		t->n += take_gauge(&gauge[i], &list[t->n]);
	return 0;
}

int store_gauges(struct session *s, struct rpc_peer *peer,
		 struct pvfs_gauge list[PVFS_GAUGES])
{
	struct taken t = { .list = list };
	struct ask c;
	int rc = store_knows(s, peer, WIRE_FT_INSIDE);

	if (rc)
		return rc;
	ask_begin(&c, s, peer);
	rc = ask_run(&c, WIRE_GAUGES, take_gauges, &t);
	return rc ? rc : t.n;
}

static int take_believes(void *arg, const struct wire_msg *reply)
{
	const struct wire_gauges_rep *rep = reply->body;
	const struct wire_gauge *gauge = reply->tail[0].ptr;

	for (uint32_t i = 0; i < le32toh(rep->n); i++)
		if (le32toh(gauge[i].name) == WIRE_G_BELIEVES)
			*(bool *)arg = le64toh(gauge[i].value);
	return 0;
}

/* Who did not have to prove who it is, but by the kernel's word, was believed. */
bool store_believes(struct session *s, struct rpc_peer *peer)
{
	bool local = !strcmp(rpc_peer_transport(peer), "local");
	bool believes = !local;
	struct ask c;

	if (s->auth || rpc_peer_features(peer) & WIRE_FT_CAPS)
		return false;
	if (!local || store_knows(s, peer, WIRE_FT_INSIDE))
		return believes;
	ask_begin(&c, s, peer);
	ask_run(&c, WIRE_GAUGES, take_believes, &believes);
	return believes;
}

/* ---- TIMES ---- */

static const char *say_what(uint32_t what, struct pvfs_times *to)
{
	const char *queue = what < WIRE_TM_QUEUE
				    ? NULL
				    : NAME(queues, what - WIRE_TM_QUEUE);

	snprintf(to->queue, sizeof(to->queue), "%s", queue ? queue : "");
	return queue ? "queue" : NAME(timed, what);
}

static bool take_time(const struct wire_time *from, struct pvfs_times *to)
{
	uint32_t what = le32toh(from->what);
	const char *name = say_what(what, to), *way = NAME(ways, from->way),
		   *tr = NAME(transports, from->transport);
	uint64_t bytes = le64toh(from->bytes);
	struct pvfs_op_stats *s = &to->stats;

	if (!name || !way || !tr)
		return false;
	snprintf(to->way, sizeof(to->way), "%s", way);
	snprintf(to->transport, sizeof(to->transport), "%s",
		 what <= WIRE_TM_WRITE ? tr : "");
	*s = (struct pvfs_op_stats){ .op = what,
				     .requests = le64toh(from->n),
				     .errors = le64toh(from->errors),
				     .ns = le64toh(from->ns),
				     .most_ns = le64toh(from->most) };
	*(what == WIRE_TM_READ ? &s->bytes_out : &s->bytes_in) = bytes;
	snprintf(s->name, sizeof(s->name), "%s", name);
	for (unsigned int i = 0; i < PVFS_LATENCIES; i++)
		s->latency[i] = le64toh(from->bucket[i]);
	return true;
}

static int take_times(void *arg, const struct wire_msg *reply)
{
	const struct wire_times_rep *rep = reply->body;
	const struct wire_time *time = reply->tail[0].ptr;
	struct taken *t = arg;
	struct pvfs_times *list = t->list;

	t->n = 0;
	t->next = le32toh(rep->next);
	for (uint32_t i = 0; i < le32toh(rep->n); i++)
		t->n += take_time(&time[i], &list[t->n]);
	return 0;
}

int store_times(struct session *s, struct rpc_peer *peer, uint32_t from,
		struct pvfs_times list[STORE_TIMES], uint32_t *next)
{
	const struct wire_times body = { .from = htole32(from) };
	struct taken t = { .list = list };
	struct ask c;
	int rc = store_knows(s, peer, WIRE_FT_INSIDE);

	if (rc)
		return rc;
	ask_begin(&c, s, peer);
	ask_put(&c, &body, sizeof(body));
	rc = ask_run(&c, WIRE_TIMES, take_times, &t);
	if (rc)
		return rc;
	if (t.next && t.next <= from)
		return -EPROTO;
	*next = t.next;
	return t.n;
}
