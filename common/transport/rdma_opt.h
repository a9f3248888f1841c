/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma_opt.h - which RDMA device, address, service level and traffic class a
 * process uses: from its configuration, and above that from PVFS_RDMA.
 */
#ifndef RDMA_OPT_H
#define RDMA_OPT_H

#include <stddef.h>

#include "common/util/log.h"

#define RDMA_DEVICE_MAX 80u
#define RDMA_GID_MAX 46u
#define RDMA_KEY "rdma_" /* before a key, in files */
#define RDMA_DEVICES 4u

/* All zero: as the system chooses. */
struct rdma_opt {
	char device[RDMA_DEVICE_MAX]; /* "mlx5_0", "mlx5_0:1" (port); several with
				       * slashes between them */
	char gid[RDMA_GID_MAX]; /* "3" (of the port's table), or its address */
	unsigned int service_level; /* 0-15 */
	unsigned int traffic_class; /* 0-255: of IP (RoCE) or the GRH */
	/* of endpoints for bulk data, each 1 more than it is; 0: as the others */
	unsigned int bulk_service_level, bulk_traffic_class;
};

/*
 * One setting: key is "device", "gid", "sl", "tc", "bulk_sl" or "bulk_tc".  -ENOENT: it is none of
 * these; -EINVAL: not such a value.
 */
int rdma_opt_set(struct rdma_opt *opt, const char *key, const char *val);
/*
 * The device with that number of those that are named, from 0, to device; how many there
 * are, 0: none is named.  -ENOENT: fewer.
 */
int rdma_opt_device(const struct rdma_opt *opt, unsigned int nth,
		    char device[RDMA_DEVICE_MAX]);
/* What to write instead, "0 to 15"; NULL: no such key. */
const char *rdma_opt_want(const char *key);
/*
 * "device=mlx5_0:1,sl=3,tc=106": what it names, once each, is changed;
 * -EINVAL: not that, and nothing is.
 */
int rdma_opt_parse(const char *text, struct rdma_opt *opt);
/* What PVFS_RDMA says goes before what is there.  -EINVAL, logged. */
int rdma_opt_env(struct rdma_opt *opt, const struct log *log);

#endif
