/* SPDX-License-Identifier: BSD-2-Clause */
/* tool_mode.c - parses modes like chmod(1). */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/tools/common/tool.h"

#define SET_IDS (mode_t)(S_ISUID | S_ISGID)
#define ALL_BITS (mode_t)07777

struct change {
	mode_t mode; /* result so far */
	mode_t umask;
	bool dir;
};

static mode_t who_bits(char c)
{
	switch (c) {
	case 'u':
		return S_ISUID | S_IRWXU;
	case 'g':
		return S_ISGID | S_IRWXG;
	case 'o':
		return S_ISVTX | S_IRWXO;
	case 'a':
		return ALL_BITS;
	default:
		return 0;
	}
}

/* "u", "g" or "o" after the sign: the present rights of that class. */
static mode_t copied_bits(char c, mode_t mode)
{
	unsigned int shift = c == 'u' ? 6 : c == 'g' ? 3 : 0;

	return (mode >> shift & 7) * 0111;
}

static mode_t perm_bits(char c, const struct change *ch)
{
	switch (c) {
	case 'r':
		return 0444;
	case 'w':
		return 0222;
	case 'x':
		return 0111;
	case 'X':
		return ch->dir || ch->mode & 0111 ? 0111 : 0;
	case 's':
		return SET_IDS;
	case 't':
		return S_ISVTX;
	default:
		return 0;
	}
}

/* If a change names no class, the umask limits it.  = clears the other bits. */
static void set_bits(struct change *ch, char sign, mode_t who, mode_t bits)
{
	mode_t kept = ch->dir ? SET_IDS & ~bits : 0;

	bits &= who ? who : ALL_BITS & ~ch->umask;
	if (sign == '+')
		ch->mode |= bits;
	else if (sign == '-')
		ch->mode &= ~bits;
	else
		ch->mode = (ch->mode & (~(who ? who : ALL_BITS) | kept)) | bits;
}

/* "+rw", "=u": returns the rest of the text; NULL: it is no action. */
static const char *apply_action(struct change *ch, mode_t who, const char *s)
{
	char sign = *s++;
	mode_t bits = 0;

	if (!strchr("+-=", sign) || !sign)
		return NULL;
	if (*s && strchr("ugo", *s))
		bits = copied_bits(*s++, ch->mode);
	else
		while (*s && strchr("rwxXst", *s))
			bits |= perm_bits(*s++, ch);
	set_bits(ch, sign, who, bits);
	return s;
}

/* "ug+x-w": returns the rest of the text; NULL: it is no clause. */
static const char *apply_clause(struct change *ch, const char *s)
{
	mode_t who = 0;

	while (who_bits(*s))
		who |= who_bits(*s++);
	do
		s = apply_action(ch, who, s);
	while (s && *s && *s != ',');
	return s;
}

/* Like chmod(1): set-id bits of a directory stay unless the mode has five digits. */
static int parse_octal(const char *text, const struct change *ch, mode_t *mode)
{
	unsigned long bits = strtoul(text, NULL, 8);
	size_t len = strspn(text, "01234567");

	if (text[len] || bits > ALL_BITS)
		return -1;
	*mode = (mode_t)bits;
	if (ch->dir && len < 5)
		*mode |= ch->mode & SET_IDS;
	return 0;
}

int tool_mode(const char *text, mode_t now, mode_t umask, mode_t *mode)
{
	struct change ch = { now & ALL_BITS, umask & 0777, S_ISDIR(now) };

	if (*text >= '0' && *text <= '7')
		return parse_octal(text, &ch, mode);
	for (;; text++) {
		text = apply_clause(&ch, text);
		if (!text)
			return -1;
		if (!*text)
			break;
	}
	*mode = ch.mode;
	return 0;
}
