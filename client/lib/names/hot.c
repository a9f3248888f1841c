/* SPDX-License-Identifier: BSD-2-Clause */
/* hot.c - HOT: the files that most is done with at a server. */
#include <errno.h>
#include <string.h>

#include "client/lib/session/ask.h"
#include "client/lib/names/store.h"

_Static_assert(STORE_HOT == WIRE_HOT_MAX && PVFS_HOT == WIRE_HOT_MAX,
	       "store.h");
_Static_assert(sizeof(((struct pvfs_hot *)0)->name) > WIRE_HOT_NAME, "pvfs.h");

struct taken {
	struct pvfs_hot *list;
	int n;
};

static void take_file(const struct wire_hot_file *from, struct pvfs_hot *to)
{
	*to = (struct pvfs_hot){
		.handle = le64toh(from->handle),
		.requests = le64toh(from->requests),
		.bytes_in = le64toh(from->bytes_in),
		.bytes_out = le64toh(from->bytes_out),
	};
	memcpy(to->name, from->name, sizeof(from->name));
}

static int take_hot(void *arg, const struct wire_msg *reply)
{
	const struct wire_hot_rep *rep = reply->body;
	const struct wire_hot_file *file = reply->tail[0].ptr;
	struct taken *t = arg;

	t->n = (int)le32toh(rep->n);
	for (int i = 0; i < t->n; i++)
		take_file(&file[i], &t->list[i]);
	return 0;
}

static int hot(struct session *s, struct rpc_peer *peer, const le64 *handle,
	       int n, struct taken *t)
{
	const struct wire_hot body = { .n = htole32((uint32_t)n) };
	struct ask c;
	int rc = store_knows(s, peer, WIRE_FT_HOT);

	if (rc)
		return rc;
	ask_begin(&c, s, peer);
	ask_put(&c, &body, sizeof(body));
	ask_put(&c, handle, (size_t)n * sizeof(*handle));
	return ask_run(&c, WIRE_HOT, take_hot, t);
}

int store_hot(struct session *s, struct rpc_peer *peer,
	      struct pvfs_hot list[STORE_HOT])
{
	struct taken t = { .list = list };
	int rc = hot(s, peer, NULL, 0, &t);

	return rc ? rc : t.n;
}

/* They come in the order in which they were asked for; fewer may. */
int store_names(struct session *s, struct rpc_peer *peer, struct pvfs_hot *list,
		int n)
{
	struct pvfs_hot named[STORE_HOT];
	struct taken t = { .list = named };
	le64 handle[STORE_HOT];
	int rc;

	for (int i = 0; i < n; i++)
		handle[i] = htole64(list[i].handle);
	rc = n ? hot(s, peer, handle, n, &t) : 0;
	for (int i = 0; !rc && i < n && i < t.n; i++)
		if (named[i].handle == list[i].handle)
			memcpy(list[i].name, named[i].name,
			       sizeof(list[i].name));
	return rc;
}
