/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvjump.c - signals, cancellation and forks during calls that bypass a mount. They must leave no
 * state for which the next call would wait.
 *
 * 	usage: pvjump FILE [jumping]	FILE may be on a mount or not
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/past/past.h"

#define LEN 200000
#define ROUNDS 100

static int fd;
static char want[LEN];

static int reads(void)
{
	static __thread char got[LEN];

	return pread(fd, got, LEN, 0) == LEN && !memcmp(got, want, LEN);
}

/* One-shot timer: with a periodic one, long handlers would leave no time for the program. */
static void timer(long us)
{
	const struct itimerval t = { { 0, 0 }, { 0, us } };

	must(!setitimer(ITIMER_REAL, &t, NULL));
}

/* Does not use random(): a handler could jump out of it while it holds its lock. */
static void timer_soon(void)
{
	static unsigned int seed = 1;

	timer(1 + rand_r(&seed) % 3000);
}

static void handle(int sig, void (*run)(int), int flags)
{
	struct sigaction act = { .sa_handler = run, .sa_flags = flags };

	must(!sigaction(sig, &act, NULL));
}

static int nothing_blocked(void)
{
	sigset_t now;

	return !sigprocmask(SIG_SETMASK, NULL, &now) && sigisemptyset(&now);
}

/* ---- a handler jumps out of a call ---- */

static sigjmp_buf back;
static volatile sig_atomic_t jumps, armed;

static void jump(int sig)
{
	if (!armed)
		return;
	jumps++;
	siglongjmp(back, 1);
}

static void *reads_once(void *unused)
{
	must(reads());
	return unused;
}

static void jump_often(void)
{
	pthread_t other;

	for (jumps = 0; jumps < ROUNDS;) {
		if (!sigsetjmp(back, 1)) {
			armed = 1;
			timer_soon();
			must(reads());
			must(pwrite(fd, want, LEN, 0) == LEN);
		}
		armed = 0;
	}
	timer(0);
	must(reads() && nothing_blocked());
	must(!pthread_create(&other, NULL, reads_once, NULL));
	must(!pthread_join(other, NULL)); /* no lock is held */
}

static void jumping(void)
{
	handle(SIGALRM, jump, 0);
	jump_often();
}

/* ---- a handler interrupts malloc() ---- */

static volatile sig_atomic_t handled, wrong;

static void opens(int sig)
{
	int saved = errno, mine = dup(fd);
	char got[100];

	if (pread(mine, got, sizeof(got), 70) != sizeof(got) ||
	    memcmp(got, want + 70, sizeof(got)) || close(mine))
		wrong++;
	handled++;
	errno = saved;
}

static void allocating(void)
{
	void *mem[64] = { NULL };
	int timers = 0;

	handle(SIGALRM, opens, SA_RESTART);
	for (unsigned int i = 0; handled < ROUNDS; i++) {
		if (handled == timers) {
			timers++;
			timer_soon();
		}
		free(mem[i % 64]);
		mem[i % 64] = malloc(i % 7000);
	}
	timer(0);
	for (int i = 0; i < 64; i++)
		free(mem[i]);
	must(!wrong && reads());
}

/* ---- a handler forks ---- */

static void forks(int sig)
{
	int saved = errno, status;
	pid_t pid = fork();

	if (!pid)
		_exit(reads() ? 0 : 1);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		wrong++;
	handled++;
	errno = saved;
}

static void forking(void)
{
	handled = 0;
	handle(SIGALRM, forks, SA_RESTART);
	while (handled < 10) {
		timer_soon();
		must(reads() && pwrite(fd, want, LEN, 0) == LEN);
	}
	timer(0);
	must(!wrong);
}

/* ---- the arguments of a handler ---- */

static volatile sig_atomic_t got_sum, got_all, got_code;

static void told(int sig, siginfo_t *info, void *context)
{
	got_sum += info->si_value.sival_int;
	got_all++;
	got_code = info->si_code;
}

static void *send_signals(void *main_thread)
{
	for (int i = 1; i <= ROUNDS; i++) {
		pthread_sigqueue(*(pthread_t *)main_thread, SIGRTMIN,
				 (union sigval){ .sival_int = i });
		usleep(500);
	}
	return NULL;
}

static void telling(void)
{
	struct sigaction act = { .sa_sigaction = told, .sa_flags = SA_SIGINFO };
	struct sigaction old;
	pthread_t self = pthread_self(), other;

	must(!sigaction(SIGRTMIN, &act, NULL));
	must(!sigaction(SIGRTMIN, NULL, &old) && old.sa_sigaction == told);
	must(!pthread_create(&other, NULL, send_signals, &self));
	while (got_all < ROUNDS)
		must(reads());
	must(!pthread_join(other, NULL));
	must(got_sum == ROUNDS * (ROUNDS + 1) / 2 && got_code == SI_QUEUE);
	must(nothing_blocked());
	must((void *)signal(SIGRTMIN, SIG_IGN) == (void *)told);
	must(signal(SIGRTMIN, SIG_DFL) == SIG_IGN);
	handle(SIGUSR1, opens, (int)SA_RESETHAND);
	must(!raise(SIGUSR1));
	must(!sigaction(SIGUSR1, NULL, &old) && old.sa_handler == SIG_DFL);
	must(!wrong);
}

/* ---- handlers with the semantics of System V ---- */

static void counts(int sig)
{
	handled++;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void system_v(void)
{
	sigset_t none;

	sigemptyset(&none);
	must(sigset(SIGUSR1, counts) == SIG_DFL);
	must(sigset(SIGUSR1, SIG_HOLD) == counts);
	must(sigset(SIGUSR1, counts) == SIG_HOLD && nothing_blocked());
	must(!sighold(SIGUSR1) && !(handled = 0) && !raise(SIGUSR1));
	must(reads() && !handled);
	must(sigsuspend(&none) && handled == 1);
	must(!sigrelse(SIGUSR1) && nothing_blocked());
	must(signal(SIGUSR1, SIG_DFL) == counts);
	must(!sigignore(SIGUSR1) && !raise(SIGUSR1) && handled == 1);
	must(sigset(SIGUSR1, SIG_DFL) == SIG_IGN);
	must(sigset(SIGKILL, counts) == SIG_ERR && errno == EINVAL);
	must(sigset(SIGALRM, jump) != SIG_ERR);
	jump_often();
}

/* ---- a thread that is cancelled ---- */

static void *reads_for_ever(void *unused)
{
	for (;;)
		must(reads());
	return unused;
}

static void cancelling(void)
{
	pthread_t thread;
	void *end;

	for (int i = 0; i < 20; i++) {
		must(!pthread_create(&thread, NULL, reads_for_ever, NULL));
		usleep((unsigned int)(100 + i * 300));
		must(!pthread_cancel(thread) && !pthread_join(thread, &end));
		must(end == PTHREAD_CANCELED && reads());
	}
}

/* ---- children ---- */

static void ends_well(pid_t pid)
{
	int status;

	must(pid > 0 && waitpid(pid, &status, __WALL) == pid && !status);
}

static int in_child(void *unused)
{
	char got[10];

	(void)unused;
	return pread(fd, got, 10, 5) != 10 || memcmp(got, want + 5, 10);
}

static void children(void)
{
	static char stack[256 << 10] __attribute__((aligned(16)));
	pid_t pid = _Fork();

	if (!pid)
		_exit(in_child(NULL));
	ends_well(pid);
	must(reads());
	ends_well(clone(in_child, stack + sizeof(stack), CLONE_VM | SIGCHLD,
			NULL));
	must(reads());
}

/* ---- a signal to a child that has just started ---- */

/* Waits for a limited time, because a lost signal would never arrive. */
static int is_told(void)
{
	for (int i = 0; !handled && i < 10000; i++)
		usleep(1000);
	return handled;
}

static void telling_children(void)
{
	pid_t pid;

	handle(SIGUSR1, counts, SA_RESTART);
	for (int i = 0; i < ROUNDS; i++) {
		handled = 0;
		pid = fork();
		if (!pid)
			_exit(is_told() ? 0 : 1);
		must(pid > 0 && !kill(pid, SIGUSR1));
		ends_well(pid);
	}
}

int main(int argc, char **argv)
{
	static void (*const all[])(
		void) = { jumping,  allocating, forking,  telling,
			  system_v, cancelling, children, telling_children };

	must(argc == 2 || argc == 3);
	for (int i = 0; i < LEN; i++)
		want[i] = (char)(i * 7 + i / 256);
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
	must(fd >= 0 && pwrite(fd, want, LEN, 0) == LEN);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (argc == 2 || all[i] == jumping)
			all[i]();
	puts("all of it");
	return 0;
}
