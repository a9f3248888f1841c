/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.c - the calls of libc that install signal handlers, and those that end a program
 * without its destructors.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "client/lib/profile/profile.h"
#include "client/preload/bypass/bypass.h"
#include "client/preload/export.h"
#include "client/preload/next.h"
#include "client/preload/own_call.h"

/* ---- handlers; other calls of System V (sigignore() and so on) install none ---- */

EXPORT int sigaction(int sig, const struct sigaction *act,
		     struct sigaction *old)
{
	struct sigaction was;
	int rc;

	if (sig < 1 || sig >= _NSIG)
		return next.sigaction(sig, act, old);
	rc = own_call_set_handler(sig, act, &was);
	if (!rc && old)
		*old = was;
	return rc;
}

static sighandler_t install_handler(int sig, sighandler_t handler, int flags,
				    bool mask)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = flags },
			 was;

	if (handler == SIG_ERR || sig < 1 || sig >= _NSIG) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (mask)
		sigaddset(&act.sa_mask, sig);
	return own_call_set_handler(sig, &act, &was) ? SIG_ERR : was.sa_handler;
}

EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
	bool interrupts = sig > 0 && sig < _NSIG &&
			  atomic_load(own_call_interrupts(sig));

	return install_handler(sig, handler, interrupts ? 0 : SA_RESTART, true);
}

EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler);
EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler)
{
	return signal(sig, handler);
}

EXPORT sighandler_t ssignal(int sig, sighandler_t handler)
{
	return signal(sig, handler);
}

EXPORT sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
	return install_handler(sig, handler, (int)SA_RESETHAND | SA_NODEFER,
			       false);
}

EXPORT sighandler_t sysv_signal(int sig, sighandler_t handler)
{
	return __sysv_signal(sig, handler);
}

static bool set_blocked(int how, int sig)
{
	sigset_t one, before;

	sigemptyset(&one);
	sigaddset(&one, sig);
	return !sigprocmask(how, &one, &before) && sigismember(&before, sig);
}

EXPORT sighandler_t sigset(int sig, sighandler_t handler)
{
	struct sigaction act;
	sighandler_t was;

	if (handler == SIG_HOLD)
		was = sigaction(sig, NULL, &act) ? SIG_ERR : act.sa_handler;
	else
		was = install_handler(sig, handler, 0, false);
	if (was == SIG_ERR)
		return SIG_ERR;
	return set_blocked(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, sig)
		       ? SIG_HOLD
		       : was;
}

EXPORT int siginterrupt(int sig, int interrupts)
{
	struct sigaction act;

	if (sigaction(sig, NULL, &act))
		return -1;
	atomic_store(own_call_interrupts(sig), interrupts != 0);
	if (interrupts)
		act.sa_flags &= ~SA_RESTART;
	else
		act.sa_flags |= SA_RESTART;
	return sigaction(sig, &act, NULL);
}

/* ---- the end ---- */

EXPORT void _exit(int status) __attribute__((noreturn));
EXPORT void _Exit(int status) __attribute__((noreturn, alias("_exit")));

/*
 * Ends the sessions; otherwise the servers would keep them, and their open files, until
 * session_timeout.
 */
void _exit(int status)
{
	if (!own_call_active()) {
		bypass_end();
		profile_write();
	}
	next.exit(status);
	__builtin_unreachable();
}
