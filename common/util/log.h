/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.h - log lines go to a sink that the owner of a component chose. A component keeps a const
 * struct log *, which must outlive it; NULL logs nothing. Logging preserves errno. A line states
 * the exact cause, the peer and the remedy.
 */
#ifndef LOG_H
#define LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/util/clock.h"

enum log_level { LOG_LV_ERROR, LOG_LV_WARN, LOG_LV_INFO, LOG_LV_DEBUG };

/*
 * Peers can cause any number of lines. Of the warnings and infos, LOG_BURST are written at once,
 * then LOG_PER_S per second. A line states how many others were dropped.
 */
#define LOG_BURST 5000u
#define LOG_PER_S 20u
struct log_budget {
	/* private; `at` is the time until which the lines written so far use the budget */
	atomic_uint_least64_t at;
	atomic_uint_least64_t left_out;
};

struct log {
	enum log_level level; /* lines above this level are dropped */
	/* writes msg, one line without a newline; any thread may call it */
	void (*sink)(void *arg, enum log_level level, const char *msg);
	void *arg;
	/* limits the lines per second; if NULL, all lines are written */
	struct log_budget *budget;
};

void log_msg(const struct log *log, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Writes an info line that other programs wait for, whatever the level and the budget are. */
void log_always(const struct log *log, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(log, ...) log_msg(log, LOG_LV_ERROR, __VA_ARGS__)
#define log_warn(log, ...) log_msg(log, LOG_LV_WARN, __VA_ARGS__)
#define log_info(log, ...) log_msg(log, LOG_LV_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_msg(log, LOG_LV_DEBUG, __VA_ARGS__)

/* A sink: writes "<prefix>: level: msg" to the FILE * in a struct log_file. */
struct log_file {
	FILE *out;
	const char *prefix;
};
void log_to_file(void *arg, enum log_level level, const char *msg);

/* Parses "error", "warn", "info" or "debug". -EINVAL if name is anything else. */
int log_level_parse(const char *name, enum log_level *level);

/*
 * Limits lines that others can cause repeatedly to one per second. Returns whether a line may be
 * written now. *at is the clock_now() of the last line, or 0 if there was none.
 */
#define LOG_PACE_MS 1000u
static inline bool log_pace(uint64_t *at)
{
	uint64_t now = clock_now();

	if (*at && now - *at < LOG_PACE_MS * CLOCK_NS_PER_MS)
		return false;
	*at = now;
	return true;
}

#endif
