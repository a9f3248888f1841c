/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma_opt.h - which RDMA device, address, service level and traffic class a process uses. The
 * settings come from its configuration; PVFS_RDMA overrides them.
 */
#ifndef RDMA_OPT_H
#define RDMA_OPT_H

#include <stddef.h>

#include "common/util/log.h"

#define RDMA_DEVICE_MAX 80u
#define RDMA_GID_MAX 46u
#define RDMA_KEY "rdma_" /* prefix of a key, in files */
#define RDMA_DEVICES 4u

/* All zero: system defaults. */
struct rdma_opt {
	char device[RDMA_DEVICE_MAX]; /* "mlx5_0" or "mlx5_0:1" (port); several are separated by
				       * slashes */
	char gid[RDMA_GID_MAX]; /* "3" (index in the port's table), or the address itself */
	unsigned int service_level; /* 0-15 */
	unsigned int traffic_class; /* 0-255: of IP (RoCE) or the GRH */
	/* for bulk endpoints: value + 1; 0: same as other endpoints */
	unsigned int bulk_service_level, bulk_traffic_class;
};

/*
 * Sets one option. key is "device", "gid", "sl", "tc", "bulk_sl" or "bulk_tc". -ENOENT: unknown
 * key; -EINVAL: invalid value.
 */
int rdma_opt_set(struct rdma_opt *opt, const char *key, const char *val);
/*
 * Copies the name of device number nth (from 0) to device. Returns the number of named devices; 0:
 * none is named. -ENOENT: there are fewer.
 */
int rdma_opt_device(const struct rdma_opt *opt, unsigned int nth,
		    char device[RDMA_DEVICE_MAX]);
/* The accepted values, for messages: "0 to 15"; NULL: unknown key. */
const char *rdma_opt_want(const char *key);
/*
 * Parses "device=mlx5_0:1,sl=3,tc=106" and changes the named options; each may occur once. -EINVAL:
 * invalid text; nothing changes.
 */
int rdma_opt_parse(const char *text, struct rdma_opt *opt);
/* Options in PVFS_RDMA override those in opt. -EINVAL: invalid value, logged. */
int rdma_opt_env(struct rdma_opt *opt, const struct log *log);

#endif
