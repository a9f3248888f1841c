/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_opt.c - PVFS_RDMA: which device, service level and traffic class, for
 * servers and programs alike: "device=mlx5_0:1,sl=3,tc=106".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_opt.h"

static int number(const char *text, size_t len, unsigned int max,
		  unsigned int *out)
{
	unsigned int n = 0;
	size_t i;

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

static bool is_key(const char *text, const char *key)
{
	return !strncmp(text, key, strlen(key));
}

static int one(const char *text, size_t len, struct vb_opt *opt)
{
	if (is_key(text, "sl="))
		return number(text + 3, len - 3, 15, &opt->service_level);
	if (is_key(text, "tc="))
		return number(text + 3, len - 3, 255, &opt->traffic_class);
	if (!is_key(text, "device=") || len - 7 >= sizeof(opt->device) ||
	    len == 7)
		return -EINVAL;
	memcpy(opt->device, text + 7, len - 7);
	opt->device[len - 7] = '\0';
	return 0;
}

int vb_opt_parse(const char *text, struct vb_opt *opt)
{
	struct vb_opt o = { 0 };
	size_t len;
	int rc;

	for (; *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		rc = len ? one(text, len, &o) : -EINVAL;
		if (rc)
			return rc;
	}
	*opt = o;
	return 0;
}

int vb_opt_get(const struct tp_dev_attr *attr, struct vb_opt *opt)
{
	const char *text = getenv("PVFS_RDMA");

	if (vb_opt_parse(text ? text : "", opt)) {
		log_error(attr->log,
			  "PVFS_RDMA=%s: want device=NAME[:PORT], sl=0..15, "
			  "tc=0..255, with commas between them",
			  text);
		return -EINVAL;
	}
	if (attr->device && strlen(attr->device) < sizeof(opt->device))
		strcpy(opt->device, attr->device);
	if (attr->service_level)
		opt->service_level = attr->service_level;
	if (attr->traffic_class)
		opt->traffic_class = attr->traffic_class;
	return 0;
}
