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
#define RDMA_KEY "rdma_" /* prefix of a key in configuration files */
#define RDMA_DEVICES 4u

/* All zero means the defaults of the system. */
struct rdma_opt {
	char device[RDMA_DEVICE_MAX]; /* "mlx5_0" or "mlx5_0:1" (port); several are separated by
				       * slashes */
	char gid[RDMA_GID_MAX]; /* "3" (index in the port's table), or the address itself */
	unsigned int service_level; /* 0-15 */
	unsigned int traffic_class; /* 0-255: of IP (RoCE) or the GRH */
	/* for bulk endpoints: the value plus 1; 0 means the same value as for other endpoints */
	unsigned int bulk_service_level, bulk_traffic_class;
};

/*
 * Sets the option key: "device", "gid", "sl", "tc", "bulk_sl" or "bulk_tc". Returns 0; -ENOENT if
 * there is no such key; -EINVAL if val is invalid.
 */
int rdma_opt_set(struct rdma_opt *opt, const char *key, const char *val);
/*
 * Copies the name of the device with index nth (from 0) to device. Returns the number of devices
 * that opt names, which is 0 if it names none; -ENOENT if nth is not below that number.
 */
int rdma_opt_device(const struct rdma_opt *opt, unsigned int nth,
		    char device[RDMA_DEVICE_MAX]);
/* Returns the accepted values for messages, such as "0 to 15", or NULL if the key is unknown. */
const char *rdma_opt_want(const char *key);
/*
 * Parses text, such as "device=mlx5_0:1,sl=3,tc=106", and sets the named options in *opt; each may
 * occur once. Returns 0, or -EINVAL without a change if text is invalid.
 */
int rdma_opt_parse(const char *text, struct rdma_opt *opt);
/*
 * Sets the options of PVFS_RDMA in *opt. Returns 0, or -EINVAL if a value is invalid, which is
 * logged.
 */
int rdma_opt_env(struct rdma_opt *opt, const struct log *log);

#endif
