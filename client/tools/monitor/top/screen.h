/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen.h - switches the terminal to the alternate screen, without echo.  The terminal
 * is restored however the program ends, except by SIGKILL.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

struct screen {
	bool keys; /* standard input is a terminal too */
	struct termios was; /* to be restored */
	int signals; /* signalfd */
	sigset_t mask;
};

/* 0, or -errno: ENOTTY: standard output is no terminal. */
int screen_open(struct screen *s);
void screen_close(struct screen *s);
void screen_size(unsigned int *rows, unsigned int *columns);
/* Shows text from the upper left corner.  0 or -errno. */
int screen_show(const char *text, size_t len);
/*
 * Waits for ms, or until the terminal has another size.  Returns false if the program should
 * end: the user pressed q or Ctrl-C, or a signal came.
 */
bool screen_wait(struct screen *s, unsigned int ms);

#endif
