/* SPDX-License-Identifier: BSD-2-Clause */
/* words.h - settings of words: one of several, or several in one, "sl=3,tc=106". */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>

/*
 * Copies what *text has before the next sep, or the end, to buf and moves
 * *text behind it; behind the last word *text is NULL.  -EINVAL: the word is
 * empty, or does not fit.
 */
int words_next(const char **text, char sep, char *buf, size_t len);
/* Which of the n words text is; -EINVAL: none of them. */
int words_index(const char *text, const char *const *word, unsigned int n);
/* Cuts word at sep: what is behind it, or NULL if there is no sep. */
char *words_cut(char *word, char sep);

#endif
