/* SPDX-License-Identifier: BSD-2-Clause */
/* loan.c - BORROW, and the descriptors that arrive with its reply. */
#include "client/lib/session/loan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/session/server_call.h"
#include "common/util/process_limits.h"

#define SPARE 64u /* descriptors left for the program */
#define APART 512 /* distance from the numbers that the program gets next */

/* The contents of a reply. */
struct brought {
	struct rpc_peer *peer;
	struct loan *loan;
	int fd[TP_PASS_MAX];
	/* the last want of the n descriptors belong to this call */
	int n, want;
	bool clock; /* the iod reports its clock */
};

/* ---- pages ---- */

/* Maps len bytes of fd.  NULL also for a shorter file: access beyond its end raises SIGBUS. */
static void *map_page(int fd, size_t len, int prot)
{
	struct stat sb;
	void *p;

	if (fstat(fd, &sb) || sb.st_size < (off_t)len)
		return NULL;
	p = mmap(NULL, len, prot, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	madvise(p, len, MADV_DONTFORK);
	return p;
}

static void unmap_page(const volatile void *p, size_t len)
{
	if (p)
		munmap((void *)(uintptr_t)p, len);
}

static void loan_pages_free(struct loan_pages *l)
{
	unmap_page(l->gate, sizeof(*l->gate));
	unmap_page(l->terms, sizeof(*l->terms));
	unmap_page(l->marks, l->page ? sizeof(*l->page) : sizeof(*l->marks));
	free(l);
}

void loan_pages_put(struct loan_pages *l)
{
	if (l && atomic_fetch_sub(&l->refs, 1) == 1)
		loan_pages_free(l);
}

/* An iod of an earlier release shares only the marks. */
static void map_marks(struct loan_pages *l, int fd)
{
	const int prot = PROT_READ | PROT_WRITE;

	l->page = map_page(fd, sizeof(*l->page), prot);
	l->marks = l->page ? &l->page->marks
			   : map_page(fd, sizeof(*l->marks), prot);
}

static struct loan_pages *loan_pages_new(const int *fd, unsigned int link)
{
	struct loan_pages *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	atomic_init(&l->refs, 1);
	l->link = link;
	l->gate = map_page(fd[0], sizeof(*l->gate), PROT_READ);
	l->terms = map_page(fd[1], sizeof(*l->terms), PROT_READ);
	map_marks(l, fd[2]);
	if (l->gate && l->terms && l->marks)
		return l;
	loan_pages_free(l);
	return NULL;
}

/* Returns the iod's pages for the present connection, with a reference; or NULL. */
static struct loan_pages *loan_pages_get(struct session *s, uint32_t i)
{
	struct session_server *server = &s->uri[i];
	struct loan_pages *l;

	pthread_mutex_lock(&s->loans_lock);
	l = server->loan_pages;
	if (l && l->link != atomic_load(&server->lost))
		l = NULL;
	if (l)
		atomic_fetch_add(&l->refs, 1);
	pthread_mutex_unlock(&s->loans_lock);
	return l;
}

/* If several arrive, the first one stays. */
static void loan_pages_keep(struct session *s, uint32_t i, struct loan_pages *l)
{
	struct session_server *server = &s->uri[i];
	struct loan_pages *old = NULL;

	pthread_mutex_lock(&s->loans_lock);
	if (!server->loan_pages || server->loan_pages->link != l->link) {
		old = server->loan_pages;
		server->loan_pages = l;
		atomic_fetch_add(&l->refs, 1);
	}
	pthread_mutex_unlock(&s->loans_lock);
	loan_pages_put(old);
}

/* ---- requests ---- */

static void descriptors_close(struct brought *b, int from, int to)
{
	for (int i = from; i < to; i++)
		close(b->fd[i]);
}

/* Descriptors of a call that was given up may come first: close them. */
static bool descriptors_are_complete(struct brought *b, uint64_t inode)
{
	struct stat sb;

	if (b->n < b->want) {
		descriptors_close(b, 0, b->n);
		b->n = 0;
		return false;
	}
	descriptors_close(b, 0, b->n - b->want);
	memmove(b->fd, b->fd + b->n - b->want,
		(size_t)b->want * sizeof(b->fd[0]));
	b->n = b->want;
	return !fstat(b->fd[0], &sb) && sb.st_ino == inode;
}

/*
 * A program that closes all descriptors that it does not know opens its next files with
 * the lowest numbers.  Writes to one of ours must not go to those files.
 */
static int descriptor_move_away(int fd)
{
	struct rlimit most;
	int from = APART;

	if (!getrlimit(RLIMIT_NOFILE, &most) && most.rlim_cur / 2 < APART)
		from = (int)(most.rlim_cur / 2);
	return fd < from ? descriptor_apart(fd, from) : fd;
}

static int borrow_take_reply(void *arg, const struct wire_msg *reply)
{
	const struct wire_borrow_rep *rep = reply->body;
	struct brought *b = arg;
	uint32_t flags = le32toh(rep->flags);

	if (flags & WIRE_B_NONE)
		return -ENOENT;
	b->n = rpc_peer_take_fds(b->peer, b->fd, TP_PASS_MAX);
	if (!descriptors_are_complete(b, le64toh(rep->inode)))
		return -EPROTO;
	b->loan->number = le64toh(rep->number);
	b->loan->index = le32toh(rep->index);
	b->loan->stripe = le32toh(rep->stripe);
	b->loan->write = flags & WIRE_B_WRITE;
	b->loan->waits = flags & WIRE_B_WAITS;
	b->clock = flags & WIRE_B_CLOCK;
	return 0;
}

static int borrow_send(struct session *s, uint64_t handle, bool write,
		       bool pages, struct brought *b)
{
	struct wire_borrow body = {
		.handle = htole64(handle),
		.flags = htole32((write ? WIRE_B_WRITE : 0) |
				 (pages ? WIRE_B_PAGES : 0)),
	};
	struct server_call c;
	int rc;

	server_call_begin(&c, s, b->peer);
	server_call_put(&c, &body, sizeof(body));
	rc = server_call_run(&c, WIRE_BORROW, borrow_take_reply, b);
	if (rc)
		descriptors_close(b, 0, b->n);
	return rc;
}

/* The times on the iod's pages are those of its time namespace. */
static bool same_clock(const struct loan_pages *l)
{
	struct stat sb;

	return !stat("/proc/self/ns/time", &sb) && sb.st_ino == l->gate->clock;
}

/* Sets loan->pages, with a reference. */
static int loan_fill(struct session *s, uint32_t i, uint64_t handle, bool write,
		     struct loan *loan)
{
	struct brought b = { .peer = s->iod[i], .loan = loan };
	unsigned int link = atomic_load(&s->uri[i].lost);
	struct loan_pages *l = loan_pages_get(s, i);
	int rc;

	b.want = l ? 1 : 1 + (int)LOAN_PAGE_COUNT;
	rc = borrow_send(s, handle, write, !l, &b);
	if (rc) {
		loan_pages_put(l);
		return rc;
	}
	if (!l) {
		l = loan_pages_new(b.fd + 1, link);
		descriptors_close(&b, 1, b.n);
	}
	if (!l) {
		close(b.fd[0]);
		return -ENOMEM;
	}
	if (b.clock && !same_clock(l)) {
		close(b.fd[0]);
		loan_pages_put(l);
		return -ESRCH;
	}
	loan_pages_keep(s, i, l);
	loan->pages = l;
	loan->fd = descriptor_move_away(b.fd[0]);
	return 0;
}

/* One request at a time, so that the descriptors with the reply belong to it. */
static int fill_alone(struct session *s, uint32_t i, uint64_t handle,
		      bool write, struct loan *loan)
{
	int rc;

	if (atomic_exchange(&s->uri[i].asking, true))
		return -EBUSY;
	write &= !!(rpc_peer_features(s->iod[i]) & WIRE_FT_ASIDE);
	rc = loan_fill(s, i, handle, write, loan);
	/* the index is reused: clear its mark */
	if (!rc)
		atomic_store(&loan->pages->marks->back[loan->index], 0);
	atomic_store(&s->uri[i].asking, false);
	return rc;
}

/*
 * ulimit -f limits files, but the kernel would apply it to objects.  Read once for a
 * loan, because reading it takes a tenth of a small write.
 */
static uint64_t size_limit(void)
{
	struct rlimit most;

	return getrlimit(RLIMIT_FSIZE, &most) ? 0 : most.rlim_cur;
}

int loan_borrow(struct session *s, uint32_t i, uint64_t handle, bool write,
		struct loan **out)
{
	struct loan *loan = calloc(1, sizeof(*loan));
	int rc;

	if (!loan)
		return -ENOMEM;
	loan->session = s->id;
	loan->iod = i;
	loan->limit = size_limit();
	rc = fill_alone(s, i, handle, write, loan);
	if (rc) {
		free(loan);
		return rc;
	}
	if (descriptors_short(loan->fd, SPARE, 0)) {
		loan_return(loan);
		return -EMFILE;
	}
	*out = loan;
	return 0;
}

void loan_return(struct loan *loan)
{
	close(loan->fd);
	if (!loan_over(loan))
		atomic_store(&loan->pages->marks->back[loan->index], 1);
	loan_pages_put(loan->pages);
	free(loan);
}

/* The pages are not mapped in the child. */
void loan_forked(struct loan *loan)
{
	close(loan->fd);
	free(loan);
}
