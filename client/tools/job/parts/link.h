/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link.h - lines over a socket that nobody waits for: what cannot be sent yet is
 * kept, up to a bound.
 */
#ifndef JOB_LINK_H
#define JOB_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_LINE 36864u /* bytes; two paths, each byte escaped */
#define LINK_OUT (4u << 20) /* bytes that wait to be sent */

struct link {
	int fd; /* -1: closed */
	char *in, *out;
	size_t nin, taken, nout, room;
	uint64_t heard; /* when, clock_now() */
};

/* Takes fd, and makes it non-blocking.  0, or -ENOMEM: fd is closed. */
int link_init(struct link *l, int fd);
void link_close(struct link *l);
/* A line; fmt has its newline.  0, or -EPIPE: it is closed now. */
int link_say(struct link *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* 0, or -EPIPE. */
int link_flush(struct link *l);
/* Takes what has come.  0; -EPIPE: the other end is gone; -EMSGSIZE: no line. */
int link_fill(struct link *l);
/* The next line without its end, good until the next link_fill(); or NULL. */
char *link_line(struct link *l);
/* All that was said has come to the other host, whatever reads it there. */
bool link_has_arrived(const struct link *l);
/* For poll(2). */
short link_events(const struct link *l);
/* Waits for a line.  0; -ETIMEDOUT, or of link_fill(). */
int link_wait(struct link *l, uint64_t deadline, char **line);
/* Waits until all is sent, or the deadline. */
void link_drain(struct link *l, uint64_t deadline);

/* A blank ends a word; what is none in a path goes as %XX.  out: LINK_WORD bytes. */
#define LINK_WORD (3u * 4096u + 1u)
void link_escape(const char *text, char *out);
/* In place; -EINVAL. */
int link_unescape(char *text);

/* Connects with a deadline; ip is a number.  The socket, or -errno. */
int link_connect(const char *ip, unsigned int port, uint64_t deadline);
/* Listens there; port 0: a free one, set.  The socket, or -errno. */
int link_listen(const char *ip, unsigned int *port);

#endif
