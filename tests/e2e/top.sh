#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-top: the requests since the last look, by server, user and job; a server that is down; and
# the terminal, which it uses while it runs and restores at its end.
. "$(dirname "$0")/functions.sh"
requires tool python3

start_pvfs -n 2
export PVFS_DIRECT=off
unset SLURM_JOB_ID

# Works as job 4711 until it is stopped.
working() {
	while [ ! -e "$tmp/enough" ]; do
		PVFS_JOB_ID=4711 pvio write /pvfs/f 0 1000000 1 >/dev/null || return
	done
}
working &
worker=$!
helpers+=("$worker")

# ---- pages below each other ----
shows() {
	pvfs-top --batch -d 1 -n 2 >pages 2>"$tmp/err" || fail "$(<"$tmp/err")"
	grep -Eq "$1" pages
}
until_true 60 shows '^[^ ]+ .* 4711$' || fail "$(<pages)"
expect 2 grep -c '^pvfs-top [0-9:]*  3 of 3 servers up, ' pages
for server in mgr 'iod 0' 'iod 1'; do
	expect 2 grep -c "^$server " pages
done
! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' pages || fail "$(od -c pages)"
# each column has a number, and not all are zero
python3 - <<'END' || fail "$(<pages)"
total = 0
for line in open("pages"):
    if line.startswith(("mgr ", "iod ")):
        total += float(line[9:].split()[0])
        assert len(line[9:].split()) == 6, line
assert total > 0
END
must_fail pvfs-top # no terminal
grep -q -- --batch "$tmp/output" || fail "$(<"$tmp/output")"

# ---- a terminal ----
cat >terminal.py <<'END'
import fcntl, os, pty, select, signal, struct, subprocess, sys, termios, time

def size(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

def start(rows, columns, *args):
    ours, theirs = pty.openpty()
    size(ours, rows, columns)
    was = termios.tcgetattr(theirs)
    p = subprocess.Popen(["pvfs-top", "-d", "1", *args], stdin=theirs,
                         stdout=theirs, start_new_session=True)
    return p, ours, theirs, was

def until(fd, *words):
    """The output until all words were in it, in this order."""
    text, end, at = b"", time.monotonic() + 60, 0
    for word in words:
        while text.find(word, at) < 0:
            assert time.monotonic() < end, (word, text[-2000:])
            if select.select([fd], [], [], 1)[0]:
                text += os.read(fd, 65536)
        at = text.find(word, at) + len(word)
    return text

def drain(fd):
    text = b""
    while select.select([fd], [], [], 0.2)[0]:
        text += os.read(fd, 65536)
    return text

def ended(p, ours, theirs, was, text):
    end = time.monotonic() + 60
    while p.poll() is None:
        assert time.monotonic() < end
        text += drain(ours)
    text += drain(ours)
    assert p.returncode == 0, p.returncode
    assert text.endswith(b"\033[?25h\033[?1049l"), text[-200:]
    assert termios.tcgetattr(theirs) == was
    os.close(ours)
    os.close(theirs)

def pages(text):
    return [page.replace(b"\r", b"").split(b"\n") for page in text.split(b"\033[H")[1:]]

# keys; no page is longer or wider than the terminal
p, ours, theirs, was = start(24, 80)
text = until(ours, b"\033[?1049h", b"3 of 3 servers up", b"4711", b"\033[J")
assert termios.tcgetattr(theirs)[3] & (termios.ECHO | termios.ICANON) == 0
size(ours, 8, 30)
p.send_signal(signal.SIGWINCH)
small = until(ours, b"\033[J", b"\033[J", b"\033[J")
last = pages(small)[-1]
assert len(last) <= 8, last
assert all(len(line.replace(b"\033[K", b"").replace(b"\033[J", b"")) <= 30
           for line in last), last
os.write(ours, b"xq")
ended(p, ours, theirs, was, text + small)

# signals
for sig in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    p, ours, theirs, was = start(24, 80)
    text = until(ours, b"\033[?1049h", b"servers up", b"\033[J")
    p.send_signal(sig)
    ended(p, ours, theirs, was, text)

# -n: the number of pages
p, ours, theirs, was = start(24, 80, "-n", "2")
ended(p, ours, theirs, was, until(ours, b"servers up", b"servers up"))
END
must timeout 300 python3 terminal.py

touch "$tmp/enough"
wait "$worker" || true
helpers=()

# ---- servers that stand still: as many pages as ever, with the others on them ----
for k in 0 1; do stand_still "$(cluster pid $k)"; done
timeout 60 pvfs-top --batch -d 1 -n 8 -t 5000 >pages || fail "exit $?: $(<pages)"
expect 8 grep -c '^pvfs-top [0-9:]*  1 of 3 servers up, ' pages
for k in 0 1; do expect 8 grep -c "^iod $k .* timed out" pages; done
for k in 0 1; do kill -CONT "$(cluster pid $k)"; done

# ---- a server that is down ----
must cluster stop-iod 1
pvfs-top --batch -d 1 -n 1 -t 1000 >pages || fail "$(<pages)"
grep -q '2 of 3 servers up' pages || fail "$(<pages)"
