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
 * Sets the option key: "device", "gid", "sl", "tc", "bulk_sl" or "bulk_tc". Returns 0; -ENOENT:
 * there is no such key; -EINVAL: val is invalid.
 */
int rdma_opt_set(struct rdma_opt *opt, const char *key, const char *val);
/*
 * Copies the name of the device with index nth (from 0) to device. Returns the number of devices
 * that opt names; 0: it names none; -ENOENT: nth is not below that number.
 */
int rdma_opt_device(const struct rdma_opt *opt, unsigned int nth,
		    char device[RDMA_DEVICE_MAX]);
/* The accepted values, for messages: "0 to 15"; NULL: unknown key. */
const char *rdma_opt_want(const char *key);
/*
 * Parses text, "device=mlx5_0:1,sl=3,tc=106", and sets the named options in *opt; each may occur
 * once. Returns 0, or -EINVAL without a change: text is invalid.
 */
int rdma_opt_parse(const char *text, struct rdma_opt *opt);
/* Options in PVFS_RDMA override those in opt. -EINVAL: invalid value, logged. */
int rdma_opt_env(struct rdma_opt *opt, const struct log *log);

#endif
