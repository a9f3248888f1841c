/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric.c - the `fabric` option, and the devices that it selects. */
#include "common/comm/fabric/fabric.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STRICT "strict:"
#define NAMES_MAX 4u

/* The transports to open, best first. */
struct names {
	char name[NAMES_MAX][sizeof(((struct addr *)0)->scheme)];
	unsigned int n;
	bool strict;
};

static bool names_have(const struct names *names, const char *name)
{
	unsigned int i;

	for (i = 0; i < names->n; i++) {
		if (!strcmp(names->name[i], name))
			return true;
	}
	return false;
}

static bool names_add(struct names *names, const char *text, size_t len)
{
	size_t i;

	if (names->n == NAMES_MAX || !len || len >= sizeof(names->name[0]))
		return false;
	for (i = 0; i < len; i++) {
		if (!islower((unsigned char)text[i]) &&
		    !isdigit((unsigned char)text[i]) && text[i] != '+')
			return false;
	}
	memcpy(names->name[names->n], text, len);
	names->name[names->n][len] = '\0';
	if (names_have(names, names->name[names->n]))
		return false;
	names->n++;
	return true;
}

static bool names_parse(struct names *names, const char *text)
{
	size_t len;

	memset(names, 0, sizeof(*names));
	if (!text || !*text || !strcmp(text, "auto"))
		text = "local:verbs:tcp";
	if (strlen(text) >= FABRIC_TEXT_MAX)
		return false;
	names->strict = !strncmp(text, STRICT, strlen(STRICT));
	if (names->strict)
		text += strlen(STRICT);
	for (;; text += len + 1) {
		len = strcspn(text, ":");
		if (!names_add(names, text, len))
			return false;
		if (!text[len])
			break;
	}
	return !names->strict || names->n == 1;
}

bool fabric_option_ok(const char *option)
{
	struct names names;

	return names_parse(&names, option);
}

static void log_setting_error(const struct tp_dev_attr *attr, const char *fmt,
			      ...) __attribute__((format(printf, 2, 3)));

/* Names the place of the wrong option or address, if attr has it. */
static void log_setting_error(const struct tp_dev_attr *attr, const char *fmt,
			      ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	log_error(attr->log, "%s%s%s", attr->where ? attr->where : "",
		  attr->where ? ": " : "", what);
}

/* An address that names its transport leaves only that one. */
static int names_for(struct names *names, const char *scheme,
		     const char *option, const struct tp_dev_attr *attr)
{
	bool chosen = option && *option && strcmp(option, "auto") != 0;

	if (!names_parse(names, option)) {
		log_setting_error(
			attr,
			"fabric=%s: want auto, strict:NAME or NAME:NAME..., "
			"of local, verbs, tcp",
			option);
		return -EINVAL;
	}
	if (!strcmp(scheme, FABRIC_ANY))
		return 0;
	if (chosen && !names_have(names, scheme)) {
		log_setting_error(
			attr,
			"fabric=%s does not allow a %s:// address: write "
			"pvfs:// there, or allow %s",
			option, scheme, scheme);
		return -EINVAL;
	}
	names->n = 0;
	return names_add(names, scheme, strlen(scheme)) ? 0 : -EINVAL;
}

static const char *missing_why(int rc)
{
	if (rc == -EPROTONOSUPPORT)
		return "not in this build";
	if (rc == -ENODEV)
		return "no device on this host";
	if (rc == -EINVAL)
		return "its settings do not fit";
	if (rc == -EFBIG)
		return "its memory is beyond ulimit -f";
	return strerror(-rc);
}

static void fabric_miss(struct fabric *fabric, const char *name, int rc)
{
	size_t len = strlen(fabric->missing);

	snprintf(fabric->missing + len, sizeof(fabric->missing) - len,
		 "%s: %s; ", name, missing_why(rc));
}

/*
 * An optional transport is first tried without logging. Only if a setting is wrong, it is tried
 * again with logging.
 */
static int fabric_add(struct fabric *fabric, const char *name, bool optional,
		      const struct tp_dev_attr *attr)
{
	struct rails *rails = &fabric->rails;
	struct tp_dev_attr silent = *attr;
	struct tp_dev *dev;
	int rc = rails->n == RAILS_MAX ? -ENOENT : 0;

	silent.log = NULL;
	if (optional && !rc)
		rc = tp_dev_open(name, &silent, &dev);
	if (optional && !rc)
		tp_dev_close(dev);
	if (!rc || rc == -EINVAL)
		rc = tp_dev_open(name, attr, &rails->dev[rails->n]);
	if (!rc)
		rails->n++;
	else if (rc != -ENOENT)
		fabric_miss(fabric, name, rc);
	return rc;
}

/* Opens all configured devices of the transport.  Returns 0 if at least one is available. */
static int fabric_add_all(struct fabric *fabric, const char *name,
			  bool optional, const struct tp_dev_attr *attr)
{
	struct tp_dev_attr each = *attr;
	unsigned int before = fabric->rails.n;
	int rc, why = 0;

	for (each.nth = 0; each.nth < RDMA_DEVICES; each.nth++) {
		rc = fabric_add(fabric, name, optional, &each);
		if (rc == -ENOENT)
			break;
		why = rc ? rc : why;
		if (rc == -EPROTONOSUPPORT)
			break;
	}
	return fabric->rails.n > before ? 0 : why;
}

/* Logs why none of the transports that were tried without logging is usable. */
static void fabric_log_none(const struct fabric *fabric,
			    const struct names *names,
			    const struct tp_dev_attr *attr)
{
	const char *name = names->name[0];
	int len = (int)strlen(fabric->missing) - 2; /* without the last "; " */

	if (!names->strict)
		log_setting_error(
			attr,
			"fabric=%s: no transport to use (%.*s): use a build "
			"with one of them, or write fabric=auto",
			fabric->option, len, fabric->missing);
	else if (!strcmp(name, "verbs"))
		log_setting_error(
			attr,
			"fabric=%s (%.*s): load the RDMA driver and bring a "
			"port up (rdma link), or write fabric=auto",
			fabric->option, len, fabric->missing);
	else
		log_setting_error(
			attr,
			"fabric=%s (%.*s): use a build with %s, or write "
			"fabric=auto",
			fabric->option, len, fabric->missing, name);
}

int fabric_open(struct fabric *fabric, const char *scheme, const char *option,
		const struct tp_dev_attr *attr)
{
	struct names names;
	unsigned int i;
	bool optional;
	int rc;

	memset(fabric, 0, sizeof(*fabric));
	rc = names_for(&names, scheme, option, attr);
	if (rc)
		return rc;
	snprintf(fabric->option, sizeof(fabric->option), "%s",
		 option && *option ? option : "auto");
	optional = names.n > 1 || names.strict;
	for (i = 0; i < names.n; i++)
		rc = fabric_add_all(fabric, names.name[i], optional, attr);
	if (fabric->rails.n)
		return 0;
	if (optional && rc != -EINVAL)
		fabric_log_none(fabric, &names, attr);
	return rc;
}

void fabric_close(struct fabric *fabric)
{
	while (fabric->rails.n > 0)
		tp_dev_close(fabric->rails.dev[--fabric->rails.n]);
}

const char *fabric_text(const struct fabric *fabric, char *buf, size_t len)
{
	size_t miss = strlen(fabric->missing), n = 0;
	unsigned int i;

	buf[0] = '\0';
	for (i = 0; i < fabric->rails.n && n < len; i++)
		n += (size_t)snprintf(buf + n, len - n, "%s%s", i ? ", " : "",
				      tp_dev_name(fabric->rails.dev[i]));
	if (miss > 2 && n < len)
		snprintf(buf + n, len - n, "; %.*s", (int)miss - 2,
			 fabric->missing);
	return buf;
}

const char *fabric_only(const char *option)
{
	if (!*option || !strcmp(option, "auto"))
		return NULL;
	if (!strncmp(option, STRICT, strlen(STRICT)))
		return option + strlen(STRICT);
	return strchr(option, ':') ? NULL : option;
}

bool fabric_scheme_ok(const char *scheme)
{
	return !strcmp(scheme, FABRIC_ANY) || tp_scheme_ok(scheme);
}

bool fabric_any(const struct addr *addr)
{
	return !strcmp(addr->scheme, FABRIC_ANY);
}

int fabric_rail(const struct rails *rails, const char *scheme)
{
	unsigned int i;

	for (i = 0; i < rails->n; i++) {
		if (!strcmp(tp_dev_name(rails->dev[i]), scheme))
			return (int)i;
	}
	return -1;
}

void fabric_addr(const struct addr *addr, const struct rails *rails,
		 unsigned int rail, struct addr *out)
{
	*out = *addr;
	snprintf(out->scheme, sizeof(out->scheme), "%s",
		 tp_dev_name(rails->dev[rail]));
}

bool fabric_is_local(const char *name)
{
	const char *plus = strrchr(name, '+');

	return !strcmp(plus ? plus + 1 : name, "local");
}
