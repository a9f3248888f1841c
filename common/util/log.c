/* SPDX-License-Identifier: BSD-2-Clause */
/* log.c - formats a line and passes it to the log's sink. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/log.h"
#include "common/util/words.h"

#define LOG_LINE_MAX 1024

static const char *const level_name[] = {
	[LOG_LV_ERROR] = "error",
	[LOG_LV_WARN] = "warn",
	[LOG_LV_INFO] = "info",
	[LOG_LV_DEBUG] = "debug",
};

#define LEVELS (sizeof(level_name) / sizeof(level_name[0]))

/* U+0080 to U+009F in UTF-8: terminals interpret these as control characters too. */
static bool is_c1(const char *p)
{
	return (unsigned char)p[0] == 0xc2 && (unsigned char)p[1] >= 0x80 &&
	       (unsigned char)p[1] < 0xa0;
}

/*
 * Peers choose parts of a line: replace control characters, so that a peer cannot forge another
 * line.
 */
static void make_printable(char *line)
{
	for (; *line; line++) {
		if (is_c1(line))
			*line++ = '?';
		else if ((unsigned char)*line >= ' ' && *line != 0x7f)
			continue;
		*line = '?';
	}
}

static void put_line(const struct log *log, enum log_level level,
		     const char *fmt, va_list ap)
{
	int saved = errno;
	char line[LOG_LINE_MAX];

	if (vsnprintf(line, sizeof(line), fmt, ap) < 0)
		strcpy(line, "a log line could not be formatted");
	make_printable(line);
	log->sink(log->arg, level, line);
	errno = saved;
}

static bool spend_budget(struct log_budget *b, uint64_t now)
{
	const uint64_t each = CLOCK_NS_PER_MS * 1000 / LOG_PER_S;
	uint64_t at = atomic_load(&b->at), next;

	do {
		next = (at > now ? at : now) + each;
		if (next - now > LOG_BURST * each) {
			atomic_fetch_add(&b->left_out, 1);
			return false;
		}
	} while (!atomic_compare_exchange_weak(&b->at, &at, next));
	return true;
}

/* Errors are our own, and the debug level shows all lines. */
static bool may_write(const struct log *log, enum log_level level)
{
	uint64_t left;

	if (!log->budget || level == LOG_LV_ERROR || level == LOG_LV_DEBUG)
		return true;
	if (!spend_budget(log->budget, clock_now()))
		return false;
	left = atomic_exchange(&log->budget->left_out, 0);
	if (left)
		log_always(log, "%llu lines were left out: too many at once",
			   (unsigned long long)left);
	return true;
}

void log_msg(const struct log *log, enum log_level level, const char *fmt, ...)
{
	va_list ap;

	if (!log || !log->sink || level > log->level || !may_write(log, level))
		return;
	va_start(ap, fmt);
	put_line(log, level, fmt, ap);
	va_end(ap);
}

void log_always(const struct log *log, const char *fmt, ...)
{
	va_list ap;

	if (!log || !log->sink)
		return;
	va_start(ap, fmt);
	put_line(log, LOG_LV_INFO, fmt, ap);
	va_end(ap);
}

void log_to_file(void *arg, enum log_level level, const char *msg)
{
	const struct log_file *file = arg;

	fprintf(file->out, "%s: %s: %s\n", file->prefix, level_name[level],
		msg);
}

int log_level_parse(const char *name, enum log_level *level)
{
	int i = words_index(name, level_name, LEVELS);

	if (i < 0)
		return i;
	*level = (enum log_level)i;
	return 0;
}
