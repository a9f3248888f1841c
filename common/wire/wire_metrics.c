/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_metrics.c - checks rows of METRICS. */
#include <string.h>

#include "common/wire/wire_form.h"

static bool is_name(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz_")];
}

/*
 * Whether s has control characters, which a help text may not have.  Values of labels may have
 * them, because they can be names of files.
 */
static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return true;
	return false;
}

static const char *check_numbers(const struct wire_metric *m)
{
	if (le16toh(m->kind) >= WIRE_MK_END)
		return "wire_metric.kind: too large";
	if (le16toh(m->kind) == WIRE_MK_TIMES)
		return NULL;
	if (m->buckets)
		return "wire_metric.buckets: of what has no times";
	if (m->errors || m->bytes_in || m->bytes_out || m->ns || m->most)
		return "wire_metric: numbers of what has only one";
	return NULL;
}

static const char *check_buckets(const struct wire_metric *m)
{
	const struct wire_metric_bucket *b = wire_metric_buckets(m);

	for (unsigned int i = 0; i < le16toh(m->buckets); i++) {
		if (!b[i].n)
			return "wire_metric_bucket.n: zero";
		if (i && le64toh(b[i].from) <= le64toh(b[i - 1].from))
			return "wire_metric_bucket.from: not in order";
	}
	return NULL;
}

/* Each string ends within the text, and nothing follows the last one. */
static const char *check_text(const struct wire_metric *m)
{
	const char *s = wire_metric_text(m), *end = s + le16toh(m->text_len);
	unsigned int strings = 2u + 2u * le16toh(m->labels);

	for (unsigned int i = 0; i < strings; i++) {
		const char *nul = memchr(s, '\0', (size_t)(end - s));

		if (!nul)
			return "wire_metric.text_len: a string has no end";
		if (i % 2 == 0 && !is_name(s))
			return "wire_metric: a name is not of a-z and _";
		if (i == 1 && has_control(s))
			return "wire_metric: a control character in the help";
		s = nul + 1;
	}
	if (s != end)
		return "wire_metric.text_len: more after the last string";
	while ((uintptr_t)s % 8)
		if (*s++)
			return "wire_metric: padding is not zero";
	return NULL;
}

size_t wire_metric_len(const struct wire_metric *m, size_t left,
		       const char **why)
{
	size_t len;

	*why = "wire_metric: cut off";
	if (left < sizeof(*m))
		return 0;
	if (le16toh(m->labels) > WIRE_METRIC_LABELS)
		*why = "wire_metric.labels: too large";
	else if (le16toh(m->buckets) > WIRE_METRIC_BUCKETS)
		*why = "wire_metric.buckets: too large";
	else if (le16toh(m->text_len) > WIRE_METRIC_TEXT)
		*why = "wire_metric.text_len: too large";
	else
		*why = check_numbers(m);
	if (*why)
		return 0;
	len = wire_pad(sizeof(*m) +
		       le16toh(m->buckets) * sizeof(struct wire_metric_bucket) +
		       le16toh(m->text_len));
	*why = len > left ? "wire_metric: cut off" : check_buckets(m);
	if (!*why)
		*why = check_text(m);
	return *why ? 0 : len;
}

const char *wire_check_metrics_rep(const struct wire_msg *msg)
{
	const uint8_t *at = msg->tail[0].ptr;
	size_t left = msg->tail[0].len, len;
	const char *why;

	for (; left; at += len, left -= len) {
		len = wire_metric_len((const void *)at, left, &why);
		if (!len)
			return why;
	}
	return NULL;
}
