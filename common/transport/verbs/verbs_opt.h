/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_opt.h - what the variable PVFS_RDMA says. */
#ifndef VERBS_OPT_H
#define VERBS_OPT_H

#include "transport.h"

#define VB_DEVICE_MAX 80u

struct vb_opt {
	char device[VB_DEVICE_MAX]; /* "mlx5_0", "mlx5_0:1"; "": any */
	unsigned int service_level; /* 0-15; 0: as the system chooses */
	unsigned int traffic_class; /* 0-255; likewise */
};

/* "device=mlx5_0:1,sl=3,tc=106", each at will; -EINVAL: not that. */
int vb_opt_parse(const char *text, struct vb_opt *opt);
/* PVFS_RDMA; what attr says wins.  -EINVAL, logged. */
int vb_opt_get(const struct tp_dev_attr *attr, struct vb_opt *opt);

#endif
