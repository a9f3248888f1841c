/* SPDX-License-Identifier: BSD-2-Clause */
/* server_metrics.c - METRICS: the counts of a server, and its present state. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/server_call.h"
#include "common/util/histogram.h"
#include "client/lib/names/server_query.h"

_Static_assert(PVFS_LATENCIES == HISTOGRAM_BUCKETS, "pvfs.h");
_Static_assert(PVFS_METRIC_LABELS == WIRE_METRIC_LABELS, "pvfs.h");
_Static_assert(PVFS_METRIC_FILES == WIRE_METRIC_FILES, "pvfs.h");
_Static_assert((unsigned int)PVFS_NOW == WIRE_MK_NOW &&
		       (unsigned int)PVFS_TOTAL == WIRE_MK_TOTAL &&
		       (unsigned int)PVFS_TIMES == WIRE_MK_TIMES,
	       "pvfs.h");
_Static_assert(PVFS_METRICS_OPS == WIRE_MG_OPS &&
		       PVFS_METRICS_USERS == WIRE_MG_USERS &&
		       PVFS_METRICS_FILES == WIRE_MG_FILES &&
		       PVFS_METRICS_INSIDE == WIRE_MG_INSIDE,
	       "pvfs.h");

#define ROWS_MOST 4096u /* of a server: it cannot keep us for ever */

struct metrics_taken {
	struct pvfs_metric *first, **last;
	unsigned int n;
	uint64_t next;
};

/* latency: zeros; NULL: it has none. */
static void take_numbers(struct pvfs_metric *m, const struct wire_metric *from,
			 uint64_t *latency)
{
	const struct wire_metric_bucket *b = wire_metric_buckets(from);

	*m = (struct pvfs_metric){
		.kind = (enum pvfs_metric_kind)le16toh(from->kind),
		.n = le64toh(from->n),
		.errors = le64toh(from->errors),
		.bytes_in = le64toh(from->bytes_in),
		.bytes_out = le64toh(from->bytes_out),
		.ns = le64toh(from->ns),
		.most_ns = le64toh(from->most),
		.latency = latency,
	};
	for (unsigned int i = 0; i < le16toh(from->buckets); i++)
		latency[histogram_bucket(le64toh(b[i].from))] += le64toh(
			b[i].n);
}

static const char *take_string(const char **at)
{
	const char *s = *at;

	*at += strlen(s) + 1;
	return s;
}

static void take_text(struct pvfs_metric *m, const char *text)
{
	m->name = take_string(&text);
	m->help = take_string(&text);
	for (unsigned int i = 0; i < m->labels; i++) {
		m->label[i].key = take_string(&text);
		m->label[i].value = take_string(&text);
	}
}

/* Adds a copy of the row.  One allocation holds the row, its times and its texts. */
static int take_row(struct metrics_taken *t, const struct wire_metric *from)
{
	size_t len = le16toh(from->text_len),
	       times = from->buckets ? PVFS_LATENCIES * sizeof(uint64_t) : 0;
	struct pvfs_metric *m = calloc(1, sizeof(*m) + times + len);
	uint8_t *extra = (uint8_t *)(m + 1);

	if (!m)
		return -ENOMEM;
	take_numbers(m, from, times ? (void *)extra : NULL);
	m->labels = le16toh(from->labels);
	memcpy(extra + times, wire_metric_text(from), len);
	take_text(m, (const char *)extra + times);
	*t->last = m;
	t->last = &m->next;
	t->n++;
	return 0;
}

static int take_rows(void *arg, const struct wire_msg *reply)
{
	const struct wire_metrics_rep *rep = reply->body;
	const uint8_t *at = reply->tail[0].ptr;
	size_t left = reply->tail[0].len, len;
	struct metrics_taken *t = arg;
	const char *why;
	int rc = 0;

	for (; left && !rc; at += len, left -= len) {
		len = wire_metric_len((const void *)at, left, &why);
		rc = len && t->n < ROWS_MOST ? take_row(t, (const void *)at)
					     : -EPROTO;
	}
	t->next = le64toh(rep->next);
	return rc;
}

static int ask_page(struct session *s, struct rpc_peer *peer,
		    const struct metrics_query *what, uint64_t from,
		    struct metrics_taken *t)
{
	const struct wire_metrics body = { .from = htole64(from),
					   .groups = htole32(what->groups),
					   .n = htole32(what->n) };
	struct server_call c;
	int rc;

	server_call_begin(&c, s, peer);
	server_call_put(&c, &body, sizeof(body));
	for (unsigned int i = 0; i < what->n; i++) {
		le64 handle = htole64(what->handle[i]);

		server_call_put(&c, &handle, sizeof(handle));
	}
	rc = server_call_run(&c, WIRE_METRICS, take_rows, t);
	return !rc && t->next && t->next <= from ? -EPROTO : rc;
}

int server_metrics(struct session *s, struct rpc_peer *peer,
		   const struct metrics_query *what, struct pvfs_metric **list)
{
	struct metrics_taken t = { .last = &t.first };
	int rc = server_check_v3(s, peer);

	while (!rc) {
		rc = ask_page(s, peer, what, t.next, &t);
		if (!rc && !t.next) {
			*list = t.first;
			return (int)t.n;
		}
	}
	server_metrics_free(t.first);
	return rc;
}

void server_metrics_free(struct pvfs_metric *list)
{
	struct pvfs_metric *m;

	while ((m = list)) {
		list = m->next;
		free(m);
	}
}

bool server_trusts_names(struct session *s, struct rpc_peer *peer)
{
	const struct metrics_query inside = { .groups = WIRE_MG_INSIDE };
	bool local = !strcmp(rpc_peer_transport(peer), "local");
	struct pvfs_metric *list = NULL;
	bool believes = !local;

	if (s->auth || rpc_peer_features(peer) & WIRE_FT_CAPS)
		return false;
	if (!local || server_metrics(s, peer, &inside, &list) < 0)
		return believes;
	for (const struct pvfs_metric *m = list; m; m = m->next)
		if (!strcmp(m->name, "auth_sys"))
			believes = m->n;
	server_metrics_free(list);
	return believes;
}
