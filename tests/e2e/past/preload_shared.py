# SPDX-License-Identifier: BSD-2-Clause
# usage: preload_shared.py FILE PID: see preload_shared.sh
import errno
import os
import signal
import sys
import threading
import time

STRIPE = 65536
path, iod = sys.argv[1], int(sys.argv[2])
fd = os.open(path, os.O_RDWR)
for i in range(4):  # both servers are known
    os.pwrite(fd, b"-", i * STRIPE)
    os.pread(fd, 1, i * STRIPE)
failed = []


def first():
    try:
        os.write(fd, b"A" * STRIPE)
    except OSError as e:
        failed.append(errno.errorcode[e.errno])


def stands():
    tasks = "/proc/%d/task" % iod
    return all("\nState:\tT" in open("%s/%s/status" % (tasks, t)).read()
               for t in os.listdir(tasks))


def stand():
    os.kill(iod, signal.SIGSTOP)
    while not stands():
        time.sleep(0.01)


def killed(call):
    """A child writes meanwhile, and has moved the shared offset."""
    pid = os.fork()
    if not pid:
        call()
        os._exit(1)
    while os.lseek(fd, 0, os.SEEK_CUR) != 5 * STRIPE:
        if os.waitpid(pid, os.WNOHANG)[0]:
            sys.exit("the child's call has ended")
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return os.lseek(fd, 0, os.SEEK_CUR)


try:
    stand()
    one = threading.Thread(target=first)
    one.start()
    while os.lseek(fd, 0, os.SEEK_CUR) != STRIPE:
        if not one.is_alive():
            sys.exit("the first one has ended: %s; one through the mount keeps the offset"
                     " to itself until then" % failed)
        time.sleep(0.01)
    if os.write(fd, b"B" * STRIPE) != STRIPE:
        sys.exit("the second one: short")
    one.join()
finally:
    os.kill(iod, signal.SIGCONT)
if failed != ["ETIMEDOUT"]:
    sys.exit("the first one: %s" % failed)
os.write(fd, b"C" * STRIPE)
if os.pread(fd, STRIPE, STRIPE) != b"B" * STRIPE:
    sys.exit("what the second one wrote is gone")
if os.pread(fd, STRIPE, 2 * STRIPE) != b"C" * STRIPE:
    sys.exit("the third one is not behind it")
for call in (lambda: os.write(fd, b"D" * STRIPE), lambda: os.read(fd, STRIPE)):
    os.lseek(fd, 4 * STRIPE, os.SEEK_SET)
    try:
        stand()
        if killed(call) != 5 * STRIPE:
            sys.exit("who is killed gives the offset back")
    finally:
        os.kill(iod, signal.SIGCONT)
print("ok")
