/* SPDX-License-Identifier: BSD-2-Clause */
/* words.h - parses settings: one word out of a set, or several words in a text, "sl=3,tc=106". */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>

/*
 * Copies the text before the next sep, or the rest, to buf, and moves *text after it. After the
 * last word, *text is NULL. -EINVAL if the word is empty or does not fit.
 */
int words_next(const char **text, char sep, char *buf, size_t len);
/* Returns the index of text among the n words, or -EINVAL if text is none of them. */
int words_index(const char *text, const char *const *word, unsigned int n);
/* Splits word at sep. Returns the part after it, or NULL if there is no sep. */
char *words_cut(char *word, char sep);

#endif
