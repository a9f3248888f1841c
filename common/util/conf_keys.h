/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conf_keys.h - every setting of the cluster's configuration file, for
 * conf_only(): all servers read the same file, so each must know the
 * settings of the others.  A new setting is added here.
 */
#ifndef CONF_KEYS_H
#define CONF_KEYS_H

/* The transports: fabric_conf.h. */
#define CONF_KEYS_FABRIC(section)                                              \
	section ".fabric", section ".rdma_device", section ".rdma_gid",        \
		section ".rdma_sl", section ".rdma_tc", section ".dead_peer"

/* [iod] has what holds for all iods, [iod.N] what holds for one. */
#define CONF_KEYS_IOD(section)                                                 \
	section ".log_level", section ".threads", section ".sync_threads",     \
		section ".sync", section ".slots", section ".max_sessions",    \
		section ".unit_size", section ".zones", section ".map_size",   \
		section ".max_open", section ".poll_us", section ".engine",    \
		section ".inline_max", section ".fast_size",                   \
		section ".rdma_max", CONF_KEYS_FABRIC(section)

/* To be followed by NULL. */
#define CONF_KEYS                                                              \
	"filesystem.id", "filesystem.stripe_size", "filesystem.stripe_count",  \
		"mgr.address", "mgr.from", "mgr.storage", "mgr.cache_size",    \
		"mgr.session_timeout", "mgr.log_level", "mgr.slots",           \
		"mgr.max_sessions", "mgr.poll_us", "mgr.iod_calls",            \
		CONF_KEYS_FABRIC("mgr"), CONF_KEYS_IOD("iod"),                 \
		CONF_KEYS_IOD("iod.*"), "iod.*.address", "iod.*.storage"

#endif
