#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""full_server.py HOST PORT FSID LOG STATUS: clients connect until the server rejects one.

STATUS is the expected reason for a client that understands it (WIRE_FT_ROOM).  A client that does
not understand it is told to retry.  The clients stay connected until the end of stdin.
"""
import resource
import struct
import sys

from badclient import Client, HELLO, hello_body

MOST = 4000
FT_ROOM, FT_V3 = 0x200000, 0x200      # wire.h
EAGAIN = 11


def login(features=0):
    """As Client.login(), with a hail."""
    c = Client()
    got = c.connect() if not features else None
    if features:
        from badclient import hello, private
        c.send(hello(private(session=c.session) + struct.pack("<I12x", features)))
        got = c.answer()
    if got[0] == "accept":
        got = c.call(HELLO, hello_body())
    return c, got[:2]


def main():
    want = int(sys.argv[5])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    inside = []
    while len(inside) < MOST:
        c, got = login()
        if got != ("reply", 0):
            break
        inside.append(c)
    if got not in (("reject", EAGAIN), ("reply", EAGAIN)):
        sys.exit(f"after {len(inside)}: {got}")
    _, got = login(FT_ROOM | FT_V3)
    if got not in (("reject", want), ("reply", want)):
        sys.exit(f"who knows why is told: {got}")
    print("full after", len(inside), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
