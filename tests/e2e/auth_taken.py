#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""auth_taken.py PORT FSID MUNGE-SOCKET - a client proves its identity to a manager with auth =
munge.  Prints the status of AUTH, and of a later request over the same unsealed connection.  Then
the client begins the proof again.  An attacker has intercepted its credential and the number of its
session, and sends both over his own connection.  Prints the status of the attacker's AUTH.
"""
import hashlib
import hmac
import os
import random
import struct
import subprocess
import sys

import doors

STATFS, CHALLENGE, AUTH, MUNGE = 3, 47, 48, 2
SEAL, SEALS = 2, 0x100  # WIRE_CH_SEAL; of the facts
PORT, FSID, SOCKET = int(sys.argv[1]), int(sys.argv[2], 16), sys.argv[3]


class Conn:
    def __init__(self, session, epoch):
        self.session, self.epoch = session, epoch
        self.sock, accept = doors.knock(PORT, FSID, session, True, epoch) or \
            sys.exit("rejected")
        # struct wire_accept follows the header of tcp
        at = accept.index(struct.pack("<IH", 0x42495650, 2))
        self.boot = struct.unpack_from("<Q", accept, at + 16)[0]
        if doors.hello(self.sock, session):
            sys.exit("no session of nobody")

    def call(self, op, body, seq):
        """Returns the status and the body of the reply."""
        doors.ask(self.sock, op, self.session, body, 0, seq)
        kind = None
        while kind != doors.SEND:
            kind, data = doors.answer(self.sock)
        return struct.unpack_from("<I", data, 44)[0], data[48:]

    def word(self):
        """Returns CHALLENGE, and the credential that proves our identity: auth_exchange.c."""
        ours = os.urandom(64)
        status, rep = self.call(CHALLENGE, ours, 1)
        if status:
            sys.exit("CHALLENGE %d" % status)
        fsid, mode, flags = struct.unpack_from("<QII", rep)
        facts = struct.pack("<QQQII", fsid, self.session, self.boot,
                            self.epoch, mode | (flags & SEAL and SEALS)) + \
            ours[:32] + rep[16:48] + ours[32:] + rep[48:80]
        digest = hmac.new(bytes(32), digestmod=hashlib.sha256)
        for field in (b"pvfs pact 1 caller", facts):
            digest.update(struct.pack("<Q", len(field)) + field)
        cred = subprocess.run(["munge", "-S", SOCKET], check=True,
                              input=digest.digest(), stdout=subprocess.PIPE)
        return cred.stdout.strip()

    def auth(self, word, seq):
        return self.call(AUTH, struct.pack("<II", MUNGE, len(word)) + word +
                         bytes(-len(word) % 8), seq)[0]


client = Conn(random.getrandbits(63) | 1, 1)
print("its own", client.auth(client.word(), 2))
print("bare", client.call(STATFS, b"", 3)[0])
client = Conn(random.getrandbits(63) | 1, 1)
caught = client.word()
thief = Conn(client.session, 2)
print("caught", thief.auth(caught, 2))
