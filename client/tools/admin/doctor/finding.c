/* SPDX-License-Identifier: BSD-2-Clause */
/* finding.c - sends the results of a check to its parent, with a NUL after each text. */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"

/* At most PIPE_BUF bytes, so the result arrives in one piece. */
static void send_result(const struct doctor *d, char kind, const char *what,
			const char *fix)
{
	char buf[2 * DOCTOR_TEXT + 3];
	size_t n = 0, w = strlen(what) + 1, f = strlen(fix) + 1;

	if (f > DOCTOR_TEXT)
		f = DOCTOR_TEXT; /* it contains a long path */
	buf[n++] = kind;
	memcpy(buf + n, what, w);
	n += w;
	memcpy(buf + n, fix, f);
	n += f;
	buf[n - 1] = '\0';
	if (write(d->out, buf, n) < 0)
		_exit(1); /* the parent has ended */
}

void doctor_find(const struct doctor *d, const char *fix, const char *fmt, ...)
{
	char what[DOCTOR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	send_result(d, RESULT_FOUND, what, fix);
}

void doctor_unseen(const struct doctor *d, const char *fmt, ...)
{
	char what[DOCTOR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	send_result(d, RESULT_UNSEEN, what, "");
}

void doctor_note(const struct doctor *d, const char *fmt, ...)
{
	char what[DOCTOR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	send_result(d, RESULT_NOTE, what, "");
}

/* Other modules write "cause; fix". */
static void on_line(void *arg, enum log_level level, const char *msg)
{
	struct found_log *f = arg;
	char line[DOCTOR_TEXT];
	const char *fix;

	(void)level;
	f->n++;
	snprintf(line, sizeof(line), "%s", msg);
	fix = conf_fix(line);
	doctor_find(f->d, fix, "%s", line);
}

struct log found_log(struct found_log *f)
{
	return (struct log){ LOG_LV_WARN, on_line, f };
}

/* Returns the last occurrence of word in text, or NULL. */
static char *find_last(char *text, const char *word)
{
	char *at = NULL;

	while ((text = strstr(text, word)))
		at = text++;
	return at;
}

const char *conf_fix(char *line)
{
	char *skipped = find_last(line, "; the line is skipped"), *cut;

	if (skipped)
		*skipped = '\0';
	cut = skipped ? NULL : find_last(line, "; ");
	cut = cut ? cut : find_last(line, ": ");
	if (!cut)
		return line;
	*cut = '\0';
	return cut + 2;
}
