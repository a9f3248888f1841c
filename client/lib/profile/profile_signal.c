/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_signal.c - writing the profile when a signal requests it. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/profile/profile_int.h"

atomic_int profile_asked;

/* The next call that ends writes the profile. */
static void on_profile_signal(int sig)
{
	atomic_store_explicit(&profile_asked, 1, memory_order_relaxed);
}

/* Accepts only signals without another meaning for programs. */
static int parse_signal(const char *text)
{
	static const struct {
		const char *name;
		int sig;
	} known[] = {
		{ "USR1", SIGUSR1 },
		{ "USR2", SIGUSR2 },
		{ "URG", SIGURG },
		{ "WINCH", SIGWINCH },
	};
	char *end;
	long n = strtol(text, &end, 10);
	unsigned int i;

	if (!strncmp(text, "SIG", 3))
		text += 3;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strcmp(text, known[i].name) ||
		    (!*end && n == known[i].sig))
			return known[i].sig;
	}
	return !*end && n >= SIGRTMIN && n <= SIGRTMAX ? (int)n : -1;
}

void profile_signal(const struct log *log)
{
	const char *text = secure_getenv("PVFS_PROFILE_SIGNAL");
	const struct sigaction ours = { .sa_handler = on_profile_signal,
					.sa_flags = SA_RESTART };
	struct sigaction before;
	int sig;

	if (!text || !*text)
		return;
	sig = parse_signal(text);
	if (sig < 0) {
		log_warn(log,
			 "PVFS_PROFILE_SIGNAL=%s: want USR1, USR2, URG, WINCH "
			 "or the number of a real-time signal",
			 text);
		return;
	}
	if (sigaction(sig, NULL, &before) || before.sa_handler != SIG_DFL)
		log_warn(log,
			 "PVFS_PROFILE_SIGNAL=%s: the program handles it itself",
			 text);
	else
		sigaction(sig, &ours, NULL);
}
