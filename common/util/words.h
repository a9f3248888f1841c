/* SPDX-License-Identifier: BSD-2-Clause */
/* words.h - takes a setting of several words apart: "sl=3,tc=106". */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>

/*
 * Copies what *text has before the next sep, or the end, to buf and moves
 * *text behind it; behind the last word *text is NULL.  -EINVAL: the word is
 * empty, or does not fit.
 */
int words_next(const char **text, char sep, char *buf, size_t len);
/* Cuts word at sep: what is behind it, or NULL if there is no sep. */
char *words_cut(char *word, char sep);

#endif
