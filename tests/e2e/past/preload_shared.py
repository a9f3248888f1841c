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


os.kill(iod, signal.SIGSTOP)
try:
    while not stands():
        time.sleep(0.01)
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
print("ok")
