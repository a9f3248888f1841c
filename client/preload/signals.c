/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signals.c - see signals.h.  The kernel knows one handler, ours, which calls the
 * program's.  If a signal arrives inside a call, the handler stores it and blocks all
 * others after its return.  signals_release() then sends it again to the same thread.
 * Handlers that a program installs with its own system call start immediately.
 */
#include "client/preload/signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "client/preload/next.h"
#include "client/preload/pid.h"
#include "client/preload/self.h"

#define OURS __attribute__((visibility("default")))
#define BIT(sig) (UINT64_C(1) << ((sig)-1))
/* Faults caused by the current instruction. */
#define FAULTS                                                                 \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) |              \
	 BIT(SIGTRAP) | BIT(SIGSYS))
/* Signals of libc for pthread_cancel() and setuid(), and that of abort(). */
#define NEVER_WAIT (FAULTS | BIT(32) | BIT(33) | BIT(SIGABRT))

typedef void (*action)(int, siginfo_t *, void *);

/* The program's handlers. */
static struct {
	_Atomic(action) run;
	atomic_int flags; /* SA_* */
} handler[_NSIG];
static _Atomic uint64_t interrupts; /* set by siginterrupt() */

__thread volatile sig_atomic_t signals_held SIGNALS_TLS;
__thread char *volatile signals_frame SIGNALS_TLS;
static __thread struct {
	siginfo_t info;
	uint64_t mask; /* mask before the signal */
	pid_t pid; /* process that received it */
} held SIGNALS_TLS;

/* ---- delivery of a signal ---- */

static bool can_wait(int sig)
{
	return self_inside && !signals_held && !(NEVER_WAIT & BIT(sig));
}

static void hold(const siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	held.info = *info;
	held.pid = pid_now();
	memcpy(&held.mask, &c->uc_sigmask, sizeof(held.mask));
	memcpy(&c->uc_sigmask, &(uint64_t){ ~NEVER_WAIT }, sizeof(uint64_t));
	signals_held = 1;
}

static void reset(int sig)
{
	const struct sigaction none = { .sa_handler = SIG_DFL };

	if (atomic_load(&handler[sig].flags) & (int)SA_RESETHAND)
		next.sigaction(sig, &none, NULL);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	char *before = signals_frame;

	if (can_wait(sig)) {
		hold(info, context);
		return;
	}
	reset(sig);
	if (!signals_in_handler())
		signals_frame = __builtin_frame_address(0);
	atomic_load (&handler[sig].run)(sig, info, context);
	signals_frame = before;
}

static void set_mask(const uint64_t *mask)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof(*mask));
}

void signals_release(void)
{
	int saved = errno;
	uint64_t mask = held.mask;
	pid_t pid = pid_now(), tid = gettid();

	signals_held = 0;
	if (syscall(SYS_rt_tgsigqueueinfo, pid, tid, held.info.si_signo,
		    &held.info))
		syscall(SYS_tgkill, pid, tid, held.info.si_signo);
	set_mask(&mask);
	errno = saved;
}

void signals_forget(void)
{
	if (!signals_held || held.pid == pid_now())
		return;
	signals_held = 0;
	set_mask(&held.mask);
}

/* ---- installing a handler ---- */

static bool is_function(const struct sigaction *act)
{
	return act && act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
}

static void keep_handler(int sig, action run, int flags)
{
	atomic_store(&handler[sig].flags, flags);
	atomic_store(&handler[sig].run, run);
}

/* The action to install in the kernel. */
static struct sigaction ours(int sig, const struct sigaction *act)
{
	struct sigaction a = *act;

	keep_handler(sig, act->sa_sigaction, act->sa_flags);
	a.sa_sigaction = on_signal;
	a.sa_flags = (a.sa_flags | SA_SIGINFO) & (int)~SA_RESETHAND;
	return a;
}

/* A child that shares our memory has its own handlers in the kernel, but not in our table. */
static int change(int sig, const struct sigaction *act, struct sigaction *was)
{
	action run = atomic_load(&handler[sig].run);
	int flags = atomic_load(&handler[sig].flags), rc;
	struct sigaction a;

	if (!is_function(act) || !self_is_here())
		rc = next.sigaction(sig, act, was);
	else {
		a = ours(sig, act);
		rc = next.sigaction(sig, &a, was);
		if (rc)
			keep_handler(sig, run, flags);
	}
	if (!rc && was->sa_sigaction == on_signal) {
		was->sa_sigaction = run;
		was->sa_flags = flags;
	}
	return rc;
}

OURS int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction was;
	int rc;

	if (sig < 1 || sig >= _NSIG)
		return next.sigaction(sig, act, old);
	rc = change(sig, act, &was);
	if (!rc && old)
		*old = was;
	return rc;
}

/* ---- other calls that install a handler ---- */

static sighandler_t set(int sig, sighandler_t run, int flags, bool mask)
{
	struct sigaction act = { .sa_handler = run, .sa_flags = flags }, was;

	if (run == SIG_ERR || sig < 1 || sig >= _NSIG) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (mask)
		sigaddset(&act.sa_mask, sig);
	return change(sig, &act, &was) ? SIG_ERR : was.sa_handler;
}

OURS sighandler_t signal(int sig, sighandler_t run)
{
	bool stops = sig > 0 && sig < _NSIG &&
		     atomic_load(&interrupts) & BIT(sig);

	return set(sig, run, stops ? 0 : SA_RESTART, true);
}

OURS sighandler_t bsd_signal(int sig, sighandler_t run);
OURS sighandler_t bsd_signal(int sig, sighandler_t run)
{
	return signal(sig, run);
}

OURS sighandler_t ssignal(int sig, sighandler_t run)
{
	return signal(sig, run);
}

OURS sighandler_t __sysv_signal(int sig, sighandler_t run)
{
	return set(sig, run, (int)SA_RESETHAND | SA_NODEFER, false);
}

OURS sighandler_t sysv_signal(int sig, sighandler_t run)
{
	return __sysv_signal(sig, run);
}

static bool block(int how, int sig)
{
	sigset_t one, before;

	sigemptyset(&one);
	sigaddset(&one, sig);
	return !sigprocmask(how, &one, &before) && sigismember(&before, sig);
}

/* The other System V calls for signals (sigignore() and so on) install no handler. */
OURS sighandler_t sigset(int sig, sighandler_t run)
{
	struct sigaction act;
	sighandler_t was;

	if (run == SIG_HOLD)
		was = sigaction(sig, NULL, &act) ? SIG_ERR : act.sa_handler;
	else
		was = set(sig, run, 0, false);
	if (was == SIG_ERR)
		return SIG_ERR;
	return block(run == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, sig) ? SIG_HOLD
								     : was;
}

OURS int siginterrupt(int sig, int stops)
{
	struct sigaction act;

	if (sigaction(sig, NULL, &act))
		return -1;
	if (stops) {
		atomic_fetch_or(&interrupts, BIT(sig));
		act.sa_flags &= ~SA_RESTART;
	} else {
		atomic_fetch_and(&interrupts, ~BIT(sig));
		act.sa_flags |= SA_RESTART;
	}
	return sigaction(sig, &act, NULL);
}
