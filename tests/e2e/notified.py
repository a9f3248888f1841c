#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""notified.py - the receiving end of sd_notify(3), and a thread that hangs.

usage: notified.py listen ADDRESS     prints each datagram in a line: PID, then its lines
       notified.py say ADDRESS TEXT   sends TEXT, which arrives after all earlier datagrams
       notified.py hold PID TID       stops only this thread until the end of stdin
"""
import ctypes
import os
import select
import socket
import struct
import sys

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17
WALL = 0x40000000  # __WALL: threads as well
CREDENTIALS = struct.Struct("3i")


def name_of(address):
    return "\0" + address[1:] if address[0] == "@" else address


def say(address, text):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.sendto(text.encode(), name_of(address))


def listen(address):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    sock.bind(name_of(address))
    print("listens", flush=True)
    while True:
        data, control, _, _ = sock.recvmsg(4096, 256)
        pid = CREDENTIALS.unpack(control[0][2][:CREDENTIALS.size])[0]
        print(pid, data.decode().replace("\n", " "), flush=True)


def ptrace(libc, request, tid):
    if libc.ptrace(request, tid, None, None):
        sys.exit(f"ptrace {request:#x}: {os.strerror(ctypes.get_errno())}")


def hold(tid):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                            ctypes.c_void_p]
    ptrace(libc, PTRACE_SEIZE, tid)
    ptrace(libc, PTRACE_INTERRUPT, tid)
    os.waitpid(tid, WALL)
    print("held", flush=True)
    while not select.select([sys.stdin], [], [], 0.1)[0]:
        if os.waitpid(tid, WALL | os.WNOHANG)[0]:
            return  # killed meanwhile: its end waits for who holds it
    ptrace(libc, PTRACE_DETACH, tid)


if sys.argv[1] == "listen":
    listen(sys.argv[2])
elif sys.argv[1] == "say":
    say(sys.argv[2], sys.argv[3])
else:
    hold(int(sys.argv[3]))
