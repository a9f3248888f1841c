/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_opt.c - parses the RDMA settings. */
#include "common/transport/rdma_opt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/words.h"

#define ONE_MAX 128u /* bytes of "key=value" */

static int parse_number(const char *text, unsigned int max, unsigned int *out)
{
	unsigned int n = 0;
	size_t i, len = strlen(text);

	if (!len || len > 3)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -EINVAL;
		n = 10 * n + (unsigned int)(text[i] - '0');
	}
	if (n > max)
		return -EINVAL;
	*out = n;
	return 0;
}

static int service_level(struct rdma_opt *opt, const char *val)
{
	return parse_number(val, 15, &opt->service_level);
}

static int traffic_class(struct rdma_opt *opt, const char *val)
{
	return parse_number(val, 255, &opt->traffic_class);
}

static int parse_plus_one(const char *val, unsigned int max, unsigned int *out)
{
	unsigned int n;
	int rc = parse_number(val, max, &n);

	if (!rc)
		*out = n + 1;
	return rc;
}

static int bulk_service_level(struct rdma_opt *opt, const char *val)
{
	return parse_plus_one(val, 15, &opt->bulk_service_level);
}

static int bulk_traffic_class(struct rdma_opt *opt, const char *val)
{
	return parse_plus_one(val, 255, &opt->bulk_traffic_class);
}

/* "NAME" or "NAME:PORT". */
static bool is_device(const char *val)
{
	const char *port = strchr(val, ':');
	unsigned int n;

	return port != val &&
	       (!port || (!parse_number(port + 1, 255, &n) && n));
}

static unsigned int count_devices(const char *list)
{
	unsigned int n = *list != '\0';

	for (; *list; list++)
		n += *list == '/';
	return n;
}

int rdma_opt_device(const struct rdma_opt *opt, unsigned int nth,
		    char device[RDMA_DEVICE_MAX])
{
	const char *list = opt->device;
	unsigned int n = count_devices(list), i;

	if (nth && nth >= n)
		return -ENOENT;
	device[0] = '\0';
	for (i = 0; n && i <= nth; i++)
		words_next(&list, '/', device, RDMA_DEVICE_MAX);
	return (int)n;
}

static bool named_twice(const struct rdma_opt *opt, unsigned int n)
{
	char a[RDMA_DEVICE_MAX], b[RDMA_DEVICE_MAX];
	unsigned int i, k;

	for (i = 0; i < n; i++) {
		rdma_opt_device(opt, i, a);
		for (k = i + 1; k < n; k++) {
			rdma_opt_device(opt, k, b);
			if (!strcmp(a, b))
				return true;
		}
	}
	return false;
}

/* Several devices are separated by slashes. A configuration file may use commas instead. */
static int set_device(struct rdma_opt *opt, const char *val)
{
	struct rdma_opt o = *opt;
	char one[RDMA_DEVICE_MAX];
	const char *left = o.device;
	char *c;

	if (!*val || strlen(val) >= sizeof(o.device))
		return -EINVAL;
	strcpy(o.device, val);
	while ((c = strchr(o.device, ',')))
		*c = '/';
	while (left) {
		if (words_next(&left, '/', one, sizeof(one)) || !is_device(one))
			return -EINVAL;
	}
	if (count_devices(o.device) > RDMA_DEVICES ||
	    named_twice(&o, count_devices(o.device)))
		return -EINVAL;
	*opt = o;
	return 0;
}

static int set_gid(struct rdma_opt *opt, const char *val)
{
	struct in6_addr addr;
	unsigned int n;

	if (strlen(val) >= sizeof(opt->gid) ||
	    (parse_number(val, 999, &n) &&
	     inet_pton(AF_INET, val, &addr) != 1 &&
	     inet_pton(AF_INET6, val, &addr) != 1))
		return -EINVAL;
	strcpy(opt->gid, val);
	return 0;
}

static const struct setting {
	const char *key;
	int (*set)(struct rdma_opt *opt, const char *val);
	const char *want;
} settings[] = {
	{ "device", set_device,
	  "NAME or NAME:PORT, as rdma link shows them, or up to 4 of these with "
	  "/ between them" },
	{ "gid", set_gid,
	  "an index of the port's GID table, or the IP address of an entry" },
	{ "sl", service_level, "0 to 15" },
	{ "tc", traffic_class, "0 to 255" },
	{ "bulk_sl", bulk_service_level, "0 to 15" },
	{ "bulk_tc", bulk_traffic_class, "0 to 255" },
};

static const struct setting *find_key(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		if (!strcmp(settings[i].key, key))
			return &settings[i];
	}
	return NULL;
}

int rdma_opt_set(struct rdma_opt *opt, const char *key, const char *val)
{
	const struct setting *s = find_key(key);

	return s ? s->set(opt, val) : -ENOENT;
}

const char *rdma_opt_want(const char *key)
{
	const struct setting *s = find_key(key);

	return s ? s->want : NULL;
}

/* Parses "key=value". seen has a bit for each setting that occurred before. */
static int set_one(char *word, unsigned int *seen, struct rdma_opt *opt)
{
	const char *val = words_cut(word, '=');
	const struct setting *s = val ? find_key(word) : NULL;
	unsigned int bit = s ? 1u << (s - settings) : 0;

	if (!s || *seen & bit)
		return -EINVAL;
	*seen |= bit;
	return s->set(opt, val);
}

int rdma_opt_parse(const char *text, struct rdma_opt *opt)
{
	struct rdma_opt o = *opt;
	char word[ONE_MAX];
	unsigned int seen = 0;
	int rc;

	while (text && *text) {
		rc = words_next(&text, ',', word, sizeof(word));
		if (!rc)
			rc = set_one(word, &seen, &o);
		if (rc)
			return rc;
	}
	*opt = o;
	return 0;
}

int rdma_opt_env(struct rdma_opt *opt, const struct log *log)
{
	const char *text = secure_getenv("PVFS_RDMA");

	if (!text || !rdma_opt_parse(text, opt))
		return 0;
	log_error(
		log,
		"PVFS_RDMA=%s: want device=NAME[:PORT][/NAME...], gid=INDEX or an IP "
		"address, sl=0..15, tc=0..255, bulk_sl=0..15, "
		"bulk_tc=0..255, each at most once, with commas between "
		"them",
		text);
	return -EINVAL;
}
