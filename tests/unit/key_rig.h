/* SPDX-License-Identifier: BSD-2-Clause */
/* key_rig.h - key files of tests, in a folder that is removed with the rig. */
#ifndef KEY_RIG_H
#define KEY_RIG_H

#include "common/trust/keyring.h"

#define KEY_A "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define KEY_B "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
#define KEY_C "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct key_rig {
	char dir[64], path[80];
};

void key_rig_open(struct key_rig *rig);
void key_rig_close(struct key_rig *rig);
/* Writes the file with this text and mode 0600. */
void key_rig_write(struct key_rig *rig, const char *text);
/* Opens a ring with such a file. */
struct keyring *key_rig_ring(struct key_rig *rig, const char *text);
/* Returns a ring with KEY_A for the whole run, and removes its file at once. */
struct keyring *key_rig_lasting(void);
/* Number of files in the folder. */
unsigned int key_rig_files(const struct key_rig *rig);

#endif
