/* SPDX-License-Identifier: BSD-2-Clause */
/* api_aio_int.h - the contents of the private state in struct pvfs_aio. */
#ifndef API_AIO_INT_H
#define API_AIO_INT_H

#include "client/lib/aio/aio_queue.h"
#include "client/lib/api/api_int.h"

struct request {
	struct aio_call call;
	/* returns 0 or more, or -errno; f is the file of fd, or NULL */
	int64_t (*what)(struct request *r);
	int fd; /* -1: none */
	struct file *f; /* set at submission */
	union {
		struct {
			struct iovec one;
			const struct iovec *iov;
			int niov;
			bool write;
			int64_t off;
		} rw;
		struct api_list list;
		struct {
			const char *name;
			int flags;
			mode_t mode;
			struct stat *st;
		} path;
		struct {
			struct flock *range;
			int cmd;
		} lock;
	};
};

_Static_assert(sizeof(struct request) <= sizeof(((struct pvfs_aio *)0)->state),
	       "a request fits");

static inline struct request *request_of(struct pvfs_aio *aio)
{
	return (struct request *)aio->state;
}

static inline struct pvfs_aio *aio_of(struct request *r)
{
	return container_of((uint64_t(*)[24])(void *)r, struct pvfs_aio, state);
}

#endif
