#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""ticket_secret.py PID KEY FSID (hex) - prints the secrets of the tickets in the memory of the
process, one a line.  The servers compute such a secret from a ticket with their key
(common/trust/ticket.c).
"""
import hashlib
import hmac
import struct
import sys

from in_core import contents

HEAD = struct.Struct("<IIQQQQIIII32s")  # seal_head, uid, gid, ngroups, zero, client
MAC = 32


def code(key, label, field):
    """mac_make() of one field."""
    text = b"".join(struct.pack("<Q", len(part)) + part
                    for part in (label, field))
    return hmac.new(key, text, hashlib.sha256).digest()


def tickets(data, key, fsid):
    """Yields the secrets of tickets that the key has made."""
    at = data.find(struct.pack("<IQ", 1, fsid))
    while at >= 0:
        start = at - 4
        if start >= 0 and len(data) - start >= HEAD.size:
            end = start + HEAD.size + 4 * HEAD.unpack_from(data, start)[8]
            ticket = data[start:end + MAC]
            if code(key, b"pvfs ticket 1", ticket[4:-MAC]) == ticket[-MAC:]:
                yield ticket
        at = data.find(struct.pack("<IQ", 1, fsid), at + 1)


def main():
    key, fsid = bytes.fromhex(sys.argv[2]), int(sys.argv[3], 16)
    secrets = {code(key, b"pvfs ticket secret 1", ticket).hex()
               for data, _ in contents(sys.argv[1])
               for ticket in tickets(data, key, fsid)}
    print("\n".join(secrets))


main()
