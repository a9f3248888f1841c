/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen.h - the terminal, as long as it is ours: another page of it, no echo.  Whatever
 * ends the program gives it back, but for SIGKILL.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct screen {
	bool keys; /* standard input is a terminal, too */
	struct termios was;
	int signals; /* signalfd */
	sigset_t mask;
};

/* 0, or -errno: ENOTTY standard output is no terminal. */
int screen_open(struct screen *s);
void screen_close(struct screen *s);
void screen_size(unsigned int *rows, unsigned int *columns);
/* Shows what was drawn, from the upper left corner.  0, or -errno. */
int screen_show(const char *text, size_t len);
/* Until so many ms have passed, or sooner: the terminal has another size.  False: to end,
 * by a key or a signal. */
bool screen_wait(struct screen *s, unsigned int ms);

#endif
