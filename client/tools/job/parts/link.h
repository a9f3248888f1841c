/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link.h - lines over a socket, without waiting.  Lines that cannot be sent yet are
 * buffered, up to a limit.
 */
#ifndef JOB_LINK_H
#define JOB_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_LINE 36864u /* bytes; two paths, each byte escaped */
#define LINK_OUT (4u << 20) /* bytes waiting to be sent */

struct job_link {
	int fd; /* -1: closed */
	char *in, *out;
	size_t nin, taken, nout, room;
	uint64_t heard; /* time of the last receive, clock_now() */
};

/* Takes over fd, and makes it non-blocking.  0, or -ENOMEM: fd was closed. */
int link_init(struct job_link *l, int fd);
void link_close(struct job_link *l);
/* Sends a line; fmt contains its newline.  0, or -EPIPE: the link is closed now. */
int link_say(struct job_link *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Sends as much of the buffered lines as the socket takes. 0 or -EPIPE. */
int link_flush(struct job_link *l);
/*
 * Receives without waiting.  Returns 0; -EPIPE: the other end has closed the connection; -EMSGSIZE:
 * a line is too long.
 */
int link_fill(struct job_link *l);
/*
 * Returns the next line without its newline, valid until the next link_fill(); or NULL.
 */
char *link_line(struct job_link *l);
/* Whether the other host has received all sent data.  The other program may not have read it. */
bool link_has_arrived(const struct job_link *l);
/* Returns the events for poll(2). */
short link_events(const struct job_link *l);
/*
 * Waits for a line, at most until deadline, and sets *line.  Returns 0; -ETIMEDOUT; -errno of
 * poll(2); or an error of link_fill().  If the link is closed, fails immediately.
 */
int link_wait(struct job_link *l, uint64_t deadline, char **line);
/* Waits until all is sent, or the deadline. */
void link_drain(struct job_link *l, uint64_t deadline);

/*
 * link_word.c: encodes text as one word of a line, in out (LINK_WORD bytes).  Blanks, control
 * characters and % become %XX, because a blank ends a word.
 */
#define LINK_WORD (3u * 4096u + 1u)
void link_escape(const char *text, char *out);
/* Reverses link_escape(), in place.  0 or -EINVAL. */
int link_unescape(char *text);

#endif
