/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_signals.c - signals that would end the process end the copy instead, which then
 * removes incomplete files.  A thread may wait for its source forever, so a thread of this
 * file interrupts such waits.  SIGURG does that, because its default is no action.
 */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include "client/tools/files/copy/copy.h"
#include "common/util/clock.h"

/* timeout(1) sends its signal twice, to the process and to its group. */
#define SECOND_NS 1000000000ull
#define WAKE_US 5000

static struct {
	struct copy *copy;
	sem_t first;
	_Atomic uint64_t at; /* clock_now() of the first signal */
} signals;

/*
 * Whether a user or another program sends this signal.  The kernel sends SIGPIPE, SIGXCPU and
 * SIGXFSZ because of what this process does.
 */
static bool is_sent(int sig)
{
	return sig != SIGPIPE && sig != SIGXCPU && sig != SIGXFSZ;
}

static void on_signal(int sig)
{
	int none = 0, err = errno;

	if (!atomic_load(&signals.copy->interrupted))
		atomic_store(&signals.at, clock_now());
	if (atomic_compare_exchange_strong(&signals.copy->interrupted, &none,
					   sig)) {
		sem_post(&signals.first);
	} else if (is_sent(sig) &&
		   clock_now() - atomic_load(&signals.at) > SECOND_NS) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	errno = err;
}

static void ignore_signal(int sig)
{
	(void)sig;
}

static void *interrupt_waits(void *arg)
{
	(void)arg;
	while (sem_wait(&signals.first) && errno == EINTR)
		;
	for (;;) {
		kill(getpid(), SIGURG);
		usleep(WAKE_US);
	}
	return NULL;
}

static bool ends_process(int sig)
{
	static const int others[] = {
		SIGKILL, SIGSTOP, SIGCHLD,  SIGCONT, SIGTSTP, SIGTTIN,
		SIGTTOU, SIGURG,  SIGWINCH, SIGILL,  SIGTRAP, SIGABRT,
		SIGBUS,	 SIGFPE,  SIGSEGV,  SIGSYS,
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (sig == others[i])
			return false;
	return true;
}

static void mask_sigurg(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	pthread_sigmask(how, &set, NULL);
}

void copy_signals_begin(void)
{
	mask_sigurg(SIG_BLOCK);
}

void copy_signals_hear(struct copy *c)
{
	struct sigaction act = { .sa_handler = on_signal }, old;
	struct sigaction wake = { .sa_handler = ignore_signal };
	pthread_t t;

	signals.copy = c;
	sem_init(&signals.first, 0, 0);
	sigaction(SIGURG, &wake, NULL);
	if (!pthread_create(&t, NULL, interrupt_waits, NULL))
		pthread_detach(t);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (ends_process(sig) && !sigaction(sig, NULL, &old) &&
		    old.sa_handler == SIG_DFL)
			sigaction(sig, &act, NULL);
}

void copy_signals_end(const struct copy *c)
{
	int sig = atomic_load(&c->interrupted);

	if (!sig)
		return;
	signal(sig, SIG_DFL);
	raise(sig);
}

void copy_wait_begin(void)
{
	mask_sigurg(SIG_UNBLOCK);
}

void copy_wait_end(void)
{
	mask_sigurg(SIG_BLOCK);
}
