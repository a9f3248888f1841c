/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own_call.c - see own_call.h.  The kernel knows one handler, ours, which calls the
 * program's.  If a signal arrives inside a call, the handler stores it and blocks all
 * others after its return.  own_call_deliver() then sends it again to the same thread.
 * Handlers that a program installs with its own system call start immediately.
 */
#include "client/preload/own_call.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "client/preload/next.h"
#include "client/preload/own_process.h"

#define BIT(sig) (UINT64_C(1) << ((sig)-1))
/* Faults caused by the current instruction. */
#define FAULTS                                                                 \
	(BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) |              \
	 BIT(SIGTRAP) | BIT(SIGSYS))
/* Signals of libc for pthread_cancel() and setuid(), and that of abort(). */
#define NEVER_WAIT (FAULTS | BIT(32) | BIT(33) | BIT(SIGABRT))

typedef void (*signal_handler)(int, siginfo_t *, void *);

/* The program's handlers. */
static struct {
	_Atomic(signal_handler) function;
	atomic_int flags; /* SA_* */
	atomic_bool interrupts;
} handlers[_NSIG];

__thread volatile sig_atomic_t own_call_depth OWN_CALL_TLS;
__thread volatile sig_atomic_t own_call_held OWN_CALL_TLS;
__thread char *volatile own_call_handler_frame OWN_CALL_TLS;
static __thread struct {
	siginfo_t info;
	uint64_t mask; /* mask before the signal */
	pid_t pid; /* process that received it */
} held_signal OWN_CALL_TLS;

/* ---- delivery of a signal ---- */

static bool signal_can_wait(int sig)
{
	return own_call_depth && !own_call_held && !(NEVER_WAIT & BIT(sig));
}

static void hold_signal(const siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	held_signal.info = *info;
	held_signal.pid = own_process_id();
	memcpy(&held_signal.mask, &c->uc_sigmask, sizeof(held_signal.mask));
	memcpy(&c->uc_sigmask, &(uint64_t){ ~NEVER_WAIT }, sizeof(uint64_t));
	own_call_held = 1;
}

static void reset_handler(int sig)
{
	const struct sigaction none = { .sa_handler = SIG_DFL };

	if (atomic_load(&handlers[sig].flags) & (int)SA_RESETHAND)
		next.sigaction(sig, &none, NULL);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	char *before = own_call_handler_frame;

	if (signal_can_wait(sig)) {
		hold_signal(info, context);
		return;
	}
	reset_handler(sig);
	if (!own_call_in_handler())
		own_call_handler_frame = __builtin_frame_address(0);
	atomic_load (&handlers[sig].function)(sig, info, context);
	own_call_handler_frame = before;
}

static void set_signal_mask(const uint64_t *mask)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, NULL, sizeof(*mask));
}

void own_call_deliver(void)
{
	int saved = errno;
	uint64_t mask = held_signal.mask;
	pid_t pid = own_process_id(), tid = gettid();

	own_call_held = 0;
	if (syscall(SYS_rt_tgsigqueueinfo, pid, tid, held_signal.info.si_signo,
		    &held_signal.info))
		syscall(SYS_tgkill, pid, tid, held_signal.info.si_signo);
	set_signal_mask(&mask);
	errno = saved;
}

void own_call_drop_held(void)
{
	if (!own_call_held || held_signal.pid == own_process_id())
		return;
	own_call_held = 0;
	set_signal_mask(&held_signal.mask);
}

/* ---- installing a handler ---- */

static bool is_function(const struct sigaction *act)
{
	return act && act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
}

static void store_handler(int sig, signal_handler function, int flags)
{
	atomic_store(&handlers[sig].flags, flags);
	atomic_store(&handlers[sig].function, function);
}

/* The action to install in the kernel. */
static struct sigaction kernel_action(int sig, const struct sigaction *act)
{
	struct sigaction a = *act;

	store_handler(sig, act->sa_sigaction, act->sa_flags);
	a.sa_sigaction = on_signal;
	a.sa_flags = (a.sa_flags | SA_SIGINFO) & (int)~SA_RESETHAND;
	return a;
}

/* A child that shares our memory has its own handlers in the kernel, but not in our table. */
int own_call_set_handler(int sig, const struct sigaction *act,
			 struct sigaction *old)
{
	signal_handler function = atomic_load(&handlers[sig].function);
	int flags = atomic_load(&handlers[sig].flags), rc;
	struct sigaction a;

	if (!is_function(act) || !own_process_is_here())
		rc = next.sigaction(sig, act, old);
	else {
		a = kernel_action(sig, act);
		rc = next.sigaction(sig, &a, old);
		if (rc)
			store_handler(sig, function, flags);
	}
	if (!rc && old->sa_sigaction == on_signal) {
		old->sa_sigaction = function;
		old->sa_flags = flags;
	}
	return rc;
}

atomic_bool *own_call_interrupts(int sig)
{
	return &handlers[sig].interrupts;
}
