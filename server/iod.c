/* SPDX-License-Identifier: BSD-2-Clause */
/* iod.c - starts and stops an I/O daemon. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/util/daemon.h"
#include "common/util/process_limits.h"
#include "server/copyset/assignments.h"
#include "server/copyset/range_lock.h"
#include "server/copyset/promise_exchange.h"
#include "server/once/change_records.h"
#include "server/wait/gate_waiter.h"
#include "server/iod.h"
#include "common/util/incarnation.h"
#include "common/util/random_id.h"
#include "server/iod_int.h"
#include "server/state/capability_check.h"
#include "server/state/rdma_places.h"
#include "common/comm/cluster/mgr_addresses.h"

#define KEPT 16u /* further files kept open, for each of max_open */

#define REQUEST_MAX (sizeof(struct wire_hdr) + WIRE_BODY_MAX + WIRE_INLINE_MAX)
/* 4 KiB of data inline, or the sizes of WIRE_HANDLE_MAX objects */
#define REPLY_MAX (sizeof(struct wire_hdr) + sizeof(struct wire_io_rep) + 4096)

/* The limit of files that stay open because their data may still fail to reach the disk. */
static unsigned int kept_limit(unsigned int open, unsigned long long have)
{
	unsigned long long want = KEPT * (unsigned long long)open;

	return (unsigned int)(want < have ? want : have);
}

/*
 * Returns how many objects may be open: their files may use half of the descriptors, and the other
 * half is for connections.  With O_DIRECT each object takes two descriptors.
 */
static unsigned int open_limit(struct iod *iod, unsigned int *kept)
{
	unsigned int share = iod->conf.engine == IOD_CACHED ? 2 : 4;
	unsigned int want = iod->conf.max_open;
	unsigned long long have = descriptors_raise();

	*kept = 0;
	if (want <= have / share) {
		*kept = kept_limit(want, have / share - want);
		return want;
	}
	log_warn(iod->log,
		 "max_open %u is more than 1/%u of the limit of %llu open "
		 "files: using that; raise LimitNOFILE (ulimit -n)",
		 want, share, have);
	return (unsigned int)(have / share);
}

static void open_aio(struct iod *iod)
{
	int rc = aio_open(&iod->aio);

	if (rc)
		log_warn(iod->log,
			 "no asynchronous I/O (%s): %u threads wait for the "
			 "disk instead; raise fs.aio-max-nr",
			 strerror(-rc), iod->conf.sync_threads);
}

static int choose_engine(struct iod *iod)
{
	bool can = store_can_direct(iod->store);

	if (iod->conf.engine == IOD_DIRECT && !can) {
		log_error(iod->log,
			  "engine = direct, but the file system of %s has no "
			  "O_DIRECT for it; write engine = auto or cached",
			  iod->conf.storage);
		return -EOPNOTSUPP;
	}
	if (iod->conf.engine == IOD_CACHED || !can)
		return 0;
	iod->engine = &store_engine_direct;
	open_aio(iod);
	return 0;
}

static int open_store(struct iod *iod)
{
	unsigned int kept, open = open_limit(iod, &kept);
	struct object_store_attr attr = { .dir = iod->conf.storage,
					  .fsid = iod->conf.fsid,
					  .index = iod->conf.index,
					  .max_open = open,
					  .max_kept = kept,
					  .share = block_place_bytes(iod),
					  .pool = iod->pool,
					  .lost = iod->conf.new_store,
					  .shows = size_place_wanted(iod),
					  .log = iod->log };

	int rc;

	rc = recent_changes_open(&iod->recent);
	if (!rc)
		rc = change_records_open(CHANGE_RECORDS_MAX,
					 &iod->change_records);
	return rc ? rc : store_open(&attr, &iod->store);
}

static int open_loan_table(struct iod *iod)
{
	const struct loan_table_attr attr = { .dir = iod->conf.storage,
					      .store = iod->store,
					      .log = iod->log,
					      .reads = !iod_lends_writing(iod),
					      .add_usage = service_add_usage,
					      .arg = iod };

	iod->new_store = store_is_new(iod->store);
	return loan_table_open(&attr, &iod->loans);
}

static int open_counters(struct iod *iod)
{
	const struct counters_attr attr = { .dir = iod->conf.storage,
					    .in_memory = store_in_memory(
						    iod->store),
					    .log = iod->log };

	return counters_open(&attr, &iod->counters);
}

static int open_assignments(struct iod *iod)
{
	const struct assignments_attr attr = {
		.dir = iod->conf.storage,
		.iod = iod->conf.index,
		.process = iod->boot,
		.lease = iod->conf.group_lease_ms * CLOCK_NS_PER_MS,
		.started = iod->started_boot,
		.log = iod->log
	};
	int rc = range_locks_open(&iod->ranges);

	return rc ? rc : assignments_open(&attr, &iod->assignments);
}

static int open_fabric(struct iod *iod)
{
	struct tp_dev_attr attr = {
		.log = iod->log,
		.rdma = &iod->conf.fabric.rdma,
		.dead_peer_ms = iod->conf.fabric.dead_peer_s * 1000,
		.where = iod->conf.fabric.where
	};
	int rc = fabric_open(&iod->fabric, iod->conf.addr.scheme,
			     iod->conf.fabric.option, &attr);

	return rc ? rc : rpc_server_try(&iod->fabric, &iod->conf.addr);
}

static int open_workers(struct iod *iod)
{
	int rc = 0;

	while (!rc && iod->nworkers < iod->conf.threads) {
		rc = worker_open(&iod->worker[iod->nworkers], iod);
		if (!rc)
			iod->nworkers++;
	}
	if (!rc)
		rc = promise_exchange_open(&iod->worker[0],
					   &iod->promise_exchange);
	if (rc)
		log_error(iod->log,
			  "no memory for %u threads with %zu KiB of buffers "
			  "each (%s): lower 'threads' or 'zones', or raise "
			  "LimitMEMLOCK",
			  iod->conf.threads,
			  zones_bytes(&iod->conf.zones) / 1024, strerror(-rc));
	return rc;
}

static void fence_one(void *arg, uint64_t session)
{
	struct iod *iod = arg;

	rpc_server_fence(iod->server, session);
}

static int open_server(struct iod *iod)
{
	struct rpc_server_attr attr = {
		.ctx = iod->ctx,
		.nctx = iod->nworkers,
		.log = iod->log,
		.addr = iod->conf.addr,
		.fsid = iod->conf.fsid,
		.boot = iod->boot,
		.allow = &iod->conf.allow,
		.prover = keyring_prover(iod->ring),
		.keeper = iod->ring ? &iod->keeper : NULL,
		.seal = iod->conf.auth.seal,
		.role = WIRE_ROLE_IOD,
		.features = WIRE_FT_ENDS | WIRE_FT_ASIDE | WIRE_FT_LIFE |
			    WIRE_FT_TERM | WIRE_FT_COPIES |
			    (iod->shares_blocks ? WIRE_FT_SHARE : 0) |
			    (iod->conf.auth.caps ? WIRE_FT_CAPS : 0),
		.index = iod->conf.index,
		.slots = iod->conf.slots,
		.request_max = REQUEST_MAX,
		.reply_max = REPLY_MAX,
		.inline_max = iod->conf.inline_max,
		.fast_bytes = iod->conf.fast_size,
		.rdma_max = iod->conf.rdma_max,
		.carry = iod->conf.adaptive,
		.carry_above = iod->conf.rendezvous_above,
		.max_sessions = iod->conf.max_sessions,
		.host_sessions = iod->conf.host_sessions,
		.session_ttl_ms = iod->conf.session_ttl_ms,
		.slow_ms = iod->conf.slow_ms,
		.stall_ms = fabric_stall_ms(&iod->conf.fabric),
		.service = &iod_service,
		.arg = iod,
	};
	int rc;

	for (unsigned int i = 0; i < iod->nworkers; i++)
		iod->ctx[i] = iod->worker[i].ctx;
	rc = rpc_server_open(&attr, &iod->server);
	if (!rc)
		store_fence_each(iod->store, fence_one, iod);
	return rc;
}

/* With a key the servers prove who they are.  Without one the manager is recognised by its
 * address. */
static int open_mgr_identity(struct iod *iod)
{
	if (!iod->conf.key[0]) {
		log_warn(iod->log,
			 "[filesystem] key is not set: a client that connects "
			 "from %s is accepted as the manager, and a server at an "
			 "iod's address as that iod (docs/trust.md)",
			 iod->conf.mgr_from);
		return mgr_addresses_open(iod->conf.mgr_from, iod->log,
					  &iod->mgr_addresses);
	}
	iod->house = (struct ticket_verifier){ .clock = mgr_clocks_read,
					       .arg = &iod->mgr_clocks };
	iod->keeper = ticket_verifier_hooks(&iod->house,
					    iod->conf.auth.mode == AUTH_SYS
						    ? ADMIT_ALL
						    : ADMIT_PROVED);
	return keyring_open(iod->conf.key, true, iod->log, &iod->ring);
}

void iod_reload(struct iod *iod)
{
	if (!iod->ring)
		log_info(iod->log, "SIGHUP: there is no key to read again");
	else if (!keyring_reload(iod->ring) && iod->conf.auth.caps)
		loan_table_set_era(iod->loans, keyring_losses(iod->ring));
}

static bool is_shortage(int rc)
{
	return rc == -ENOMEM || rc == -EAGAIN || rc == -EMFILE || rc == -ENFILE;
}

/* An error of the storage has been logged; a shortage of the host has not, except of descriptors
 * for the storage. */
static int open_data(struct iod *iod)
{
	int rc = disk_pool_open(iod->conf.sync_threads, &iod->pool);

	if (!rc)
		rc = open_store(iod);
	if (!rc)
		rc = open_loan_table(iod);
	if (is_shortage(rc))
		log_error(iod->log,
			  "iod %u cannot start: %s; lower 'share' (%llu KiB), "
			  "'max_open' (%u) or 'sync_threads' (%u), or raise "
			  "LimitNOFILE, LimitAS or TasksMax",
			  iod->conf.index, strerror(-rc),
			  (unsigned long long)iod->conf.share / 1024,
			  iod->conf.max_open, iod->conf.sync_threads);
	return rc;
}

/* Opens the store only after the key and the network, so that a host that cannot serve leaves
 * it unchanged. */
static int open_all(struct iod *iod)
{
	int rc = open_mgr_identity(iod);

	iod->house.ring = iod->ring;
	capability_log_settings(iod);
	if (!rc)
		rc = open_fabric(iod);
	if (!rc)
		rc = open_data(iod);
	if (!rc)
		rc = open_counters(iod);
	if (!rc)
		rc = open_assignments(iod);
	if (!rc)
		rc = choose_engine(iod);
	if (!rc)
		rdma_places_open(iod);
	if (!rc)
		rc = open_workers(iod);
	if (!rc)
		rc = open_server(iod);
	return rc;
}

static int start_workers(struct iod *iod)
{
	unsigned int i;
	int rc = 0;

	if (iod->daemon)
		pulse_loops(&iod->daemon->pulse, iod->nworkers);
	for (i = 0; !rc && i < iod->nworkers; i++)
		rc = worker_start(&iod->worker[i]);
	return rc;
}

/* The iod does not serve yet; the manager may be started later. */
static void log_waits(struct iod *iod)
{
	char uri[ADDR_STRLEN];
	struct addr addr;

	iod_addr(iod, &addr);
	log_always(iod->log, "waits: iod %u at %s, %s %s: %s", iod->conf.index,
		   addr_format(&addr, uri, sizeof(uri)),
		   store_is_new(iod->store) ? "new storage" : "storage",
		   iod->conf.storage,
		   store_is_new(iod->store)
			   ? "until the manager has said that there was none "
			     "before"
			   : "for the manager's word that it is the right one, "
			     "and for what was decided meanwhile");
}

#define BOOT_SYNC 1u

/* Never BOOT_SYNC. */
static uint32_t host_boot_number(void)
{
	uint64_t id;

	if (boot_id(&id))
		id = clock_wall();
	return (uint32_t)(id ^ id >> 32) | 2;
}

/*
 * The boot number (WIRE_FT_LIFE).  From the upper half clients see whether their unflushed
 * writes still exist: the kernel keeps them over restarts of this process, until the host
 * reboots.  sync: every answered write was flushed, so a reboot loses none.
 */
static uint64_t make_boot_number(bool sync)
{
	uint64_t host = sync ? BOOT_SYNC : host_boot_number(), process;

	if (random_id(&process))
		process = clock_now();
	return host << 32 | (uint32_t)process;
}

int iod_start(const struct iod_conf *conf, const struct log *log,
	      struct daemon *daemon, struct iod **out)
{
	struct iod *iod;
	int rc;

	iod = calloc(1, sizeof(*iod) + conf->threads * sizeof(iod->worker[0]));
	if (!iod) {
		log_error(log, "iod %u cannot start: no memory", conf->index);
		return -ENOMEM;
	}
	iod->conf = *conf;
	iod->log = log;
	iod->daemon = daemon;
	iod->engine = &store_engine_cached;
	iod->run = service_run;
	iod->started = clock_now();
	iod->started_boot = clock_boot();
	mgr_clocks_init(&iod->mgr_clocks);
	atomic_init(&iod->stop, false);
	atomic_init(&iod->ready, false);
	atomic_init(&iod->lease.heard, clock_boot());
	iod->boot = make_boot_number(iod->conf.sync);
	rc = open_all(iod);
	if (!rc) {
		log_waits(iod);
		rc = start_workers(iod);
	}
	if (rc) {
		iod_stop(iod);
		return rc;
	}
	*out = iod;
	return 0;
}

/* A mail may post mails to other workers, so the mailboxes are drained several times. */
static void drain_mail(struct iod *iod)
{
	unsigned int i, round;

	for (round = 0; round < 5; round++)
		for (i = 0; i < iod->nworkers; i++)
			mailbox_drain(&iod->worker[i].mail);
}

/*
 * Ends the threads first.  Then finishes the work that waits for the disk and delivers its
 * mails, so that nothing refers to a request any more.
 */
void iod_stop(struct iod *iod)
{
	unsigned int i;

	atomic_store_explicit(&iod->stop, true, memory_order_release);
	for (i = 0; i < iod->nworkers; i++)
		worker_join(&iod->worker[i]);
	aio_close(iod->aio);
	if (iod->pool)
		disk_pool_stop(iod->pool);
	drain_mail(iod);
	for (i = 0; i < iod->nworkers; i++)
		gate_waiters_free(&iod->worker[i]);
	/* before connections are refused: a refused client assumes that the iod has ended */
	if (iod->loans)
		loan_table_set_lease(iod->loans, 0);
	if (iod->server)
		rpc_server_close(iod->server);
	promise_exchange_close(iod->promise_exchange);
	for (i = 0; i < iod->nworkers; i++)
		worker_close(&iod->worker[i]);
	if (iod->pool)
		disk_pool_close(iod->pool);
	assignments_close(iod->assignments);
	range_locks_close(iod->ranges);
	counters_close(iod->counters);
	rdma_places_close(iod);
	fabric_close(&iod->fabric);
	loan_table_close(iod->loans);
	if (iod->store)
		store_close(iod->store);
	change_records_close(iod->change_records);
	recent_changes_close(iod->recent);
	mgr_addresses_close(iod->mgr_addresses);
	keyring_close(iod->ring);
	mgr_clocks_destroy(&iod->mgr_clocks);
	free(iod);
}

void iod_addr(const struct iod *iod, struct addr *addr)
{
	rpc_server_addr(iod->server, addr);
}
