/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.h - log lines go to a sink that the owner of a component chose.
 * A component keeps a const struct log * that outlives it; NULL is silent.
 * Logging preserves errno.  A line says the exact cause, the peer and the fix.
 */
#ifndef LOG_H
#define LOG_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum log_level { LOG_LV_ERROR, LOG_LV_WARN, LOG_LV_INFO, LOG_LV_DEBUG };

/*
 * Peers cause lines, as many as they like: LOG_BURST at once, and LOG_PER_S a second from
 * then on, are written of those that warn or inform; of the others it is said how many
 * there were.
 */
#define LOG_BURST 5000u
#define LOG_PER_S 20u
struct log_budget {
	/* private; at: when all that were written will have had their time */
	atomic_uint_least64_t at;
	atomic_uint_least64_t left_out;
};

struct log {
	enum log_level level; /* lines above it are dropped */
	/* msg: one line, no newline; may be called from any thread */
	void (*sink)(void *arg, enum log_level level, const char *msg);
	void *arg;
	struct log_budget *budget; /* NULL: all are written */
};

void log_msg(const struct log *log, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Info that others wait for: not dropped, whatever the level and the budget. */
void log_always(const struct log *log, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(log, ...) log_msg(log, LOG_LV_ERROR, __VA_ARGS__)
#define log_warn(log, ...) log_msg(log, LOG_LV_WARN, __VA_ARGS__)
#define log_info(log, ...) log_msg(log, LOG_LV_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_msg(log, LOG_LV_DEBUG, __VA_ARGS__)

/* A sink: "<prefix>: level: msg" to the FILE * in a struct log_file. */
struct log_file {
	FILE *out;
	const char *prefix;
};
void log_to_file(void *arg, enum log_level level, const char *msg);

/* "error", "warn", "info", "debug"; -EINVAL otherwise. */
int log_level_parse(const char *name, enum log_level *level);

#endif
