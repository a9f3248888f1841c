#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""nobody_asks.py PORT FSID - a client without a ticket has a session of nobody at a manager with
auth = key, over tcp and unsealed, and claims that it can seal.  It sends requests, and proofs of
kinds that this manager does not accept: prints each with its status.
"""
import os
import random
import struct
import sys

import doors

PING, STATFS, CHALLENGE, AUTH = 2, 3, 47, 48
SYS, KEY, MUNGE = 0, 1, 2
WORD = bytes(40)


def word(kind):
    length = 0 if kind == SYS else len(WORD)
    return struct.pack("<II", kind, length) + WORD[:length]


session = random.getrandbits(63) | 1
sock = doors.connect(int(sys.argv[1]), int(sys.argv[2], 16), session, True)
if not sock or doors.hello(sock, session):
    sys.exit("no session of nobody")
for seq, (what, op, body) in enumerate((
        ("PING", PING, b""),
        ("STATFS", STATFS, b""),
        ("CHALLENGE", CHALLENGE, os.urandom(64)),
        ("the kernel's word", AUTH, word(SYS)),
        ("CHALLENGE", CHALLENGE, os.urandom(64)),
        ("MUNGE's", AUTH, word(MUNGE)),
        ("CHALLENGE", CHALLENGE, os.urandom(64)),
        ("a false key's", AUTH, word(KEY)),
        ("STATFS", STATFS, b"")), 1):
    doors.ask(sock, op, session, body, 0, seq)
    print(what, doors.reply(sock)[1])
