#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""proxy.py HOST PORT - a proxy between a client and a server.  Prints its own port and obeys lines
on stdin: pass; mute: drops the server's data; cut: closes all connections and accepts none;
slow SECONDS: delays the server's data."""
import select
import socket
import sys
import time

listener = socket.create_server(("127.0.0.1", 0))
server = (sys.argv[1], int(sys.argv[2]))
peer = {}       # socket -> the other one
clients = set()
mode = "pass"
delay = 0
held = []       # (when, socket, data), in the order of when


def close(sock):
    for s in (sock, peer.pop(sock, None)):
        if s:
            peer.pop(s, None)
            clients.discard(s)
            s.close()


def accept():
    client, _ = listener.accept()
    if mode == "cut":
        client.close()
        return
    other = socket.create_connection(server)
    for s in (client, other):
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer[client], peer[other] = other, client
    clients.add(client)


def forward(sock):
    try:
        data = sock.recv(65536)
        if not data:
            close(sock)
        elif sock not in clients and mode == "slow":
            held.append((time.monotonic() + delay, peer[sock], data))
        elif sock in clients or mode != "mute":
            peer[sock].sendall(data)
    except OSError:
        close(sock)


def release():
    """Returns how long to wait for the next one; None: there is none."""
    while held:
        left = held[0][0] - time.monotonic()
        if left > 0:
            return left
        _, sock, data = held.pop(0)
        if sock in clients:
            try:
                sock.sendall(data)
            except OSError:
                close(sock)
    return None


def obey():
    global mode, delay
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    mode, *more = line.split()
    delay = float(more[0]) if more else 0
    if mode == "cut":
        for s in list(clients):
            close(s)
    print(mode, flush=True)


print(listener.getsockname()[1], flush=True)
while True:
    wait = release()
    for s in select.select([listener, sys.stdin, *peer], [], [], wait)[0]:
        if s is listener:
            accept()
        elif s is sys.stdin:
            obey()
        elif s in peer:
            forward(s)
