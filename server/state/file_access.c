/* SPDX-License-Identifier: BSD-2-Clause */
/* file_access.c - see file_access.h. */
#include "server/state/file_access.h"

#include <errno.h>

#include "common/util/container.h"

static void end_access(struct file_access *access, int status)
{
	rpc_req_leave_from(access->req, RPC_DISK, access->io.work.item.began);
	access->done(access, status);
}

static void on_mail(struct mailbox_item *mail)
{
	struct file_access *access = container_of(mail, struct file_access,
						  mail);

	end_access(access, access->status);
}

/* Called on any thread. */
static void on_io_complete(struct store_io *io, int status)
{
	struct file_access *access = container_of(io, struct file_access, io);

	access->status = status;
	mailbox_post(&access->ses->worker->mail, &access->mail);
}

static void begin_access(struct file_access *access)
{
	access->mail.deliver = on_mail;
	access->io.work.item.began = 0;
	rpc_req_enter(access->req, RPC_DISK);
}

static void start_io(struct file_access *access,
		     int (*start)(struct store_io *io))
{
	struct iod_session *ses = access->ses;
	struct store_io *io = &access->io;
	int rc;

	io->pool = ses->worker->iod->pool;
	io->client = ses->disk_client;
	io->aio = ses->worker->iod->aio;
	io->expiry = access->req->expiry;
	io->done = on_io_complete;
	begin_access(access);
	rc = start(io);
	if (rc != -EINPROGRESS)
		end_access(access, rc);
}

void file_access_read(struct file_access *access)
{
	access->io.has_direct_writer = false;
	start_io(access, access->ses->worker->iod->engine->read);
}

static void start_write(struct file_access *access, bool in_gate)
{
	const struct iod *iod = access->ses->worker->iod;

	access->io.has_direct_writer = loan_object_has_writer(
		iod->loans, store_obj_key(access->io.obj));
	access->io.write_kind = access->req->op == WIRE_ORDER ? DISK_ORDER
							      : DISK_WRITE;
	access->io.in_gate = in_gate;
	start_io(access, iod->engine->write);
}

void file_access_write(struct file_access *access)
{
	start_write(access, false);
}

void file_access_write_in_gate(struct file_access *access)
{
	start_write(access, true);
}

static void run_block(struct disk_work *work)
{
	struct file_access *access = container_of(work, struct file_access,
						  io.work);

	on_io_complete(&access->io, access->block(access));
}

void file_access_block(struct file_access *access,
		       int (*block)(struct file_access *access))
{
	struct iod_session *ses = access->ses;

	access->block = block;
	access->io.work.run = run_block;
	begin_access(access);
	disk_pool_run(ses->worker->iod->pool, ses->disk_client, DISK_WRITE,
		      &access->io.work);
}
