/* SPDX-License-Identifier: BSD-2-Clause */
/* screen.c - see screen.h. */
#include "client/tools/monitor/top/screen.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/util/clock.h"

#define OURS "\033[?1049h\033[?25l" /* alternate screen, no cursor */
#define THEIRS "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define REST "\033[J" /* clears the rest */

static int write_terminal(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(STDOUT_FILENO, text, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static void disable_echo(struct screen *s)
{
	struct termios now;

	s->keys = !tcgetattr(STDIN_FILENO, &s->was);
	now = s->was;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	now.c_cc[VMIN] = 0;
	now.c_cc[VTIME] = 0;
	now.c_cc[VSUSP] = _POSIX_VDISABLE;
	if (s->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

static int block_signals(struct screen *s)
{
	static const int taken[] = { SIGINT,  SIGTERM, SIGHUP,
				     SIGQUIT, SIGPIPE, SIGWINCH };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(&set, taken[i]);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &set, &s->mask);
	return 0;
}

int screen_open(struct screen *s)
{
	int rc;

	if (!isatty(STDOUT_FILENO))
		return -ENOTTY;
	rc = block_signals(s);
	if (rc)
		return rc;
	disable_echo(s);
	return write_terminal(OURS, strlen(OURS));
}

void screen_close(struct screen *s)
{
	write_terminal(THEIRS, strlen(THEIRS));
	if (s->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &s->was);
	close(s->signals);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

void screen_size(unsigned int *rows, unsigned int *columns)
{
	struct winsize size = { 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*rows = size.ws_row ? size.ws_row : 24;
	*columns = size.ws_col ? size.ws_col : 80;
}

int screen_show(const char *text, size_t len)
{
	int rc = write_terminal(HOME, strlen(HOME));

	if (!rc)
		rc = write_terminal(text, len);
	return rc ? rc : write_terminal(REST, strlen(REST));
}

/* End of file on standard input is no key, and standard input is not read again. */
static bool is_end_key(struct screen *s)
{
	char key;
	ssize_t n = read(STDIN_FILENO, &key, 1);

	if (n <= 0 && errno != EINTR && errno != EAGAIN)
		s->keys = false;
	return n == 1 && (key == 'q' || key == 'Q' || key == 3);
}

enum woken { WOKEN_NOT, WOKEN_SIZE, WOKEN_END };

static enum woken read_signal(const struct screen *s)
{
	struct signalfd_siginfo info;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return WOKEN_NOT;
	return info.ssi_signo == SIGWINCH ? WOKEN_SIZE : WOKEN_END;
}

static enum woken wait_event(struct screen *s, int ms)
{
	struct pollfd fd[] = { { s->signals, POLLIN, 0 },
			       { s->keys ? STDIN_FILENO : -1, POLLIN, 0 } };

	if (poll(fd, 2, ms) <= 0)
		return WOKEN_NOT;
	if (fd[1].revents && is_end_key(s))
		return WOKEN_END;
	return fd[0].revents ? read_signal(s) : WOKEN_NOT;
}

bool screen_wait(struct screen *s, unsigned int ms)
{
	uint64_t end = clock_after_ms(ms);
	enum woken woken = WOKEN_NOT;

	while (woken == WOKEN_NOT && clock_now() < end)
		woken = wait_event(s, clock_left_ms(end));
	return woken != WOKEN_END;
}
