# SPDX-License-Identifier: BSD-2-Clause
"""SQLite databases whose writers are killed, for mount_sqlite.sh.

mount_sqlite.py make DIR MODE        creates an empty database DIR/MODE.db with this journal mode
mount_sqlite.py write DIR MODE WHO   commits one row after the other, and records each in the file
                                     MODE.WHO, until it is killed or fails
mount_sqlite.py check DIR MODE       checks that the database is sound and has all recorded rows
"""
import glob
import os
import random
import sqlite3
import sys
import time


def make(db, mode):
    if db.execute("pragma journal_mode=" + mode).fetchone()[0] != mode:
        sys.exit(f"{mode}: not to be had")
    db.execute("create table t (who, n, b)")


def blob(n):
    return bytes([n % 256]) * 3000


def write(db, mode, who):
    db.execute("pragma journal_mode=" + mode)
    ledger = os.open(f"{mode}.{who}", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    n = db.execute("select count(*) from t").fetchone()[0]
    while True:
        db.execute("insert into t values (?, ?, ?)", (who, n, blob(n)))
        os.write(ledger, b"%d\n" % n)
        n += 1
        time.sleep(random.random() / 100)  # the other one's turn


def check(db, mode):
    sound = db.execute("pragma integrity_check").fetchone()[0]
    if sound != "ok":
        sys.exit(f"{mode}: {sound}")
    have = {(who, n) for who, n, b in db.execute("select * from t")
            if b == blob(n)}
    for name in glob.glob(mode + ".*"):
        with open(name) as ledger:
            lost = [n for n in map(int, ledger)
                    if (name.split(".")[1], n) not in have]
        if lost:
            sys.exit(f"{name}: {len(lost)} rows are lost, the first: {lost[0]}")


what, folder, mode, *who = sys.argv[1:]
{"make": make, "write": write, "check": check}[what](
    sqlite3.connect(os.path.join(folder, mode + ".db"), timeout=60,
                    isolation_level=None), mode, *who)
