/* SPDX-License-Identifier: BSD-2-Clause */
/* munger.c - see munger.h. */
#include "common/munge/munger.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/munge/munge_int.h"
#include "common/util/quiet_thread.h"

#define STACK (256u * 1024)
#define SOCKET_MAX 108u

struct munger {
	struct munge_library lib;
	char socket[SOCKET_MAX];
	unsigned int most;
	pthread_mutex_t lock; /* protects everything below, and all calls */
	pthread_cond_t changed;
	unsigned int refs, running;
};

/*
 * One call of libmunge. Its thread owns it until done. Then the waiting caller owns it, unless the
 * caller abandoned it.
 */
struct munge_call {
	struct munger *m; /* holds a reference */
	int (*run)(struct munge_call *e, void *ctx);
	bool done, abandoned;
	bool secret; /* only uid may decode it */
	uint32_t uid;
	int rc;
	struct munger_word word;
	char cred[MUNGER_CRED_MAX];
};

/* The payload may be a secret. */
static void munge_call_free(struct munge_call *e)
{
	explicit_bzero(e, sizeof(*e));
	free(e);
}

/* ---- the owner ---- */

static int make_cond(pthread_cond_t *cond)
{
	pthread_condattr_t attr;
	int rc;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	rc = -pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
	return rc;
}

int munger_open(const char *socket, unsigned int most, const struct log *log,
		struct munger **munger)
{
	struct munger *m = calloc(1, sizeof(*m));
	int rc = m ? munge_load(log, &m->lib) : -ENOMEM;

	if (!rc && strlen(socket) >= sizeof(m->socket))
		rc = -EINVAL;
	if (!rc)
		rc = make_cond(&m->changed);
	if (rc) {
		free(m);
		return rc;
	}
	pthread_mutex_init(&m->lock, NULL);
	strcpy(m->socket, socket);
	m->most = most;
	m->refs = 1;
	*munger = m;
	return 0;
}

struct munger *munger_get(struct munger *m)
{
	pthread_mutex_lock(&m->lock);
	m->refs++;
	pthread_mutex_unlock(&m->lock);
	return m;
}

/* Called with the lock, which it releases. */
static void release_and_unlock(struct munger *m)
{
	bool last = !--m->refs;

	pthread_mutex_unlock(&m->lock);
	if (!last)
		return;
	pthread_cond_destroy(&m->changed);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

void munger_put(struct munger *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	release_and_unlock(m);
}

/* ---- in the thread of a call ---- */

static int errno_of(int says)
{
	switch (says) {
	case MUNGE_OK:
		return 0;
	case MUNGE_NO_MEMORY:
		return -ENOMEM;
	case MUNGE_NO_SOCKET:
		return -EHOSTDOWN;
	case MUNGE_BAD_CRED:
	case MUNGE_BAD_VERSION:
		return -EBADMSG;
	case MUNGE_EXPIRED:
		return -ETIME;
	case MUNGE_REWOUND:
		return -ERANGE;
	case MUNGE_REPLAYED:
		return -EALREADY;
	case MUNGE_UNAUTHORIZED:
		return -EACCES;
	default:
		return says >= MUNGE_BAD_CIPHER && says <= MUNGE_INVALID
			       ? -ENOKEY
			       : -EIO;
	}
}

static int encode_cred(struct munge_call *e, void *ctx)
{
	char *cred = NULL;
	int rc = errno_of(e->m->lib.encode(&cred, ctx, e->word.payload,
					   (int)e->word.len));

	if (!rc && strlen(cred) >= sizeof(e->cred))
		rc = -EIO;
	if (!rc)
		strcpy(e->cred, cred);
	free(cred);
	return rc;
}

static int decode_cred(struct munge_call *e, void *ctx)
{
	void *payload = NULL;
	int len = 0, rc;
	uid_t uid = 0;
	gid_t gid = 0;

	rc = errno_of(
		e->m->lib.decode(e->cred, ctx, &payload, &len, &uid, &gid));
	if (!rc && (len < 0 || len > (int)sizeof(e->word.payload)))
		rc = -EBADMSG;
	if (!rc) {
		e->word.uid = uid;
		e->word.gid = gid;
		e->word.len = (size_t)len;
		if (len)
			memcpy(e->word.payload, payload, (size_t)len);
	}
	if (payload && len > 0)
		explicit_bzero(payload, (size_t)len);
	free(payload);
	return rc;
}

static int restrict_to_uid(const struct munge_call *e, void *ctx)
{
	const struct munge_library *lib = &e->m->lib;
	int rc = errno_of(
		lib->ctx_set(ctx, MUNGE_SET_CIPHER, (int)MUNGE_AES128));

	return rc ? rc
		  : errno_of(lib->ctx_set(ctx, MUNGE_SET_ONLY_UID,
					  (uid_t)e->uid));
}

static int call_library(struct munge_call *e)
{
	const struct munge_library *lib = &e->m->lib;
	void *ctx = lib->ctx_create();
	int rc = ctx ? 0 : -ENOMEM;

	if (!rc && e->m->socket[0])
		rc = errno_of(
			lib->ctx_set(ctx, MUNGE_SET_SOCKET, e->m->socket));
	if (!rc && e->secret)
		rc = restrict_to_uid(e, ctx);
	if (!rc)
		rc = e->run(e, ctx);
	if (ctx)
		lib->ctx_destroy(ctx);
	return rc;
}

static void *thread_main(void *arg)
{
	struct munge_call *e = arg;
	struct munger *m = e->m;

	e->rc = call_library(e);
	pthread_mutex_lock(&m->lock);
	m->running--;
	e->done = true;
	if (e->abandoned)
		munge_call_free(e);
	pthread_cond_broadcast(&m->changed);
	release_and_unlock(m);
	return NULL;
}

/* ---- the waiting caller ---- */

/* The caller holds the lock. */
static int wait_for_change(struct munger *m, uint64_t deadline)
{
	const struct timespec until = clock_timespec(deadline);

	return -pthread_cond_timedwait(&m->changed, &m->lock, &until);
}

/* The caller holds the lock. Starts a thread when fewer than most calls run. */
static int start_thread(struct munge_call *e, uint64_t deadline)
{
	struct munger *m = e->m;
	int rc = clock_now() < deadline ? 0 : -ETIMEDOUT;

	while (!rc && m->running >= m->most)
		rc = wait_for_change(m, deadline);
	if (rc)
		return rc;
	rc = quiet_thread(STACK, thread_main, e, NULL);
	if (rc)
		return rc;
	m->running++;
	m->refs++;
	return 0;
}

/* The caller holds the lock. Unless e is done at the return, the caller no longer owns it. */
static int wait_for_end(struct munge_call *e, uint64_t deadline)
{
	int rc = 0;

	while (!e->done && !rc)
		rc = wait_for_change(e->m, deadline);
	if (e->done)
		return 0;
	e->abandoned = true;
	return rc;
}

/* Frees e, or leaves that to the thread if the call is not done. */
static int run_call(struct munger *m, struct munge_call *e, uint64_t deadline,
		    struct munge_call *result)
{
	int rc;

	pthread_mutex_lock(&m->lock);
	e->m = m;
	rc = start_thread(e, deadline);
	if (rc) {
		munge_call_free(e);
	} else {
		rc = wait_for_end(e, deadline);
		if (!rc) {
			*result = *e;
			rc = e->rc;
			munge_call_free(e);
		}
	}
	pthread_mutex_unlock(&m->lock);
	return rc;
}

static int encoding_new(const void *payload, size_t len,
			struct munge_call **out)
{
	struct munge_call *e;

	if (len > MUNGER_PAYLOAD_MAX)
		return -EINVAL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->run = encode_cred;
	e->word.len = len;
	memcpy(e->word.payload, payload, len);
	*out = e;
	return 0;
}

static int run_encode(struct munger *m, struct munge_call *e, uint64_t deadline,
		      char *cred)
{
	struct munge_call result;
	int rc = run_call(m, e, deadline, &result);

	if (!rc)
		strcpy(cred, result.cred);
	explicit_bzero(&result, sizeof(result));
	return rc;
}

int munger_encode(struct munger *m, const void *payload, size_t len,
		  uint64_t deadline, char *cred)
{
	struct munge_call *e;
	int rc = encoding_new(payload, len, &e);

	return rc ? rc : run_encode(m, e, deadline, cred);
}

int munger_encode_for(struct munger *m, uint32_t uid, const void *payload,
		      size_t len, uint64_t deadline, char *cred)
{
	struct munge_call *e;
	int rc = encoding_new(payload, len, &e);

	if (rc)
		return rc;
	e->secret = true;
	e->uid = uid;
	return run_encode(m, e, deadline, cred);
}

int munger_decode(struct munger *m, const void *cred, size_t len,
		  uint64_t deadline, struct munger_word *word)
{
	struct munge_call *e, result;
	int rc;

	if (!len || len >= MUNGER_CRED_MAX || strnlen(cred, len) < len)
		return -EBADMSG;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->run = decode_cred;
	memcpy(e->cred, cred, len);
	rc = run_call(m, e, deadline, &result);
	if (!rc)
		*word = result.word;
	explicit_bzero(&result, sizeof(result));
	return rc;
}

const char *munger_why(int rc)
{
	switch (rc) {
	case -EHOSTDOWN:
		return "munged does not run, or has another socket: systemctl "
		       "start munge, or set munge_socket";
	case -ETIMEDOUT:
		return "munged does not answer: look whether it hangs "
		       "(systemctl status munge)";
	case -EBADMSG:
		return "that is no MUNGE credential";
	case -ENOKEY:
		return "the credential was made with another key: all hosts "
		       "need the same /etc/munge/munge.key";
	case -ETIME:
		return "the credential is too old: let both hosts have the "
		       "same time (chronyc tracking)";
	case -ERANGE:
		return "the credential was made in the future: let both hosts "
		       "have the same time (chronyc tracking)";
	case -EALREADY:
		return "the credential was shown before: it was stolen, or "
		       "another program on this host decodes them";
	case -EACCES:
		return "the credential is only for another user";
	default:
		return strerror(-rc);
	}
}
