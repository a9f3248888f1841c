#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""numbers.py PORT FSID SECONDS SESSION... - an attacker without a key knows the numbers of
sessions.  For each number (hexadecimal) it keeps two connections to that server, one without a
HELLO and one with it, and reconnects after each disconnection.  Prints "ready", then "there
SESSION" for each connection without a HELLO.  Ends after SECONDS.
"""
import sys
import threading
import time

import doors

PORT, FSID = int(sys.argv[1]), int(sys.argv[2], 16)
end = time.monotonic() + float(sys.argv[3])

def stay(session, greets):
    while time.monotonic() < end:
        try:
            sock = doors.connect(PORT, FSID, session, True)
            if not sock:
                continue
            with sock:
                sock.settimeout(5)
                if greets:
                    doors.hello(sock, session)
                else:
                    print("there %016x" % session, flush=True)
                while sock.recv(4096):
                    pass
        except (OSError, EOFError):
            time.sleep(0.002)


for number in sys.argv[4:]:
    for how in (False, True):
        threading.Thread(target=stay, args=(int(number, 16), how),
                         daemon=True).start()
print("ready", flush=True)
while time.monotonic() < end:
    time.sleep(1)
