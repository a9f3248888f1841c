#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-mgr --backup copies the database of a running manager. The copy has all changes that were
# acknowledged before the backup began, and replaces the database after --restore. An incomplete
# copy is removed, or no manager starts on it.
. "$(dirname "$0")/functions.sh"

mgr() { "$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" "$@"; }
backup() { mgr --backup "$1" >"$tmp/output" 2>&1; }
fsck() { "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf" "$@"; }
says() { grep -qF -- "$1" "$2" || fail "no '$1' in: $(<"$2")"; }
works() { expect ok pvio chmod "$1" /pvfs/kept; }
is_free() { backup "$tmp/free" && rm -r "$tmp/free"; }

# stall: starts a command that does not read its copy, until end_stall
stall() {
	python3 -c '
import os, socket, sys, time
os.chdir(sys.argv[1])
s = socket.socket(socket.AF_UNIX)
s.connect("backup.socket")
s.recv(8, socket.MSG_WAITALL)
open(sys.argv[2], "w").close()
time.sleep(600)' "$state/mgr" "$tmp/stalls" &
	stalled=$!
	helpers+=("$stalled")
	until_true 30 [ -e "$tmp/stalls" ]
	rm "$tmp/stalls"
}
end_stall() {
	kill "$stalled"
	wait "$stalled" 2>/dev/null
}

# starts_not DIR: no manager starts on that copy, and no part of it is named like a database
starts_not() {
	sed "s|^storage = $state/mgr\$|storage = $1|" "$state/pvfs.conf" >partial.conf
	must_fail "$PVFS_BUILD/mgr/pvfs-mgr" --config partial.conf --check
	says 'no database in storage' "$tmp/output"
	must cluster stop-mgr
	must_fail timeout 60 "$PVFS_BUILD/mgr/pvfs-mgr" --config partial.conf
	says 'holds files but no pvfs-stamp' "$tmp/output"
	must cluster start-mgr >/dev/null
}

start_pvfs -n 2
expect ok pvio write /pvfs/kept 0 300000 1
expect ok pvio create /pvfs old-file-with-a-long-name. 3000 1

# ---- two clients create, rename and remove while copies are made ----
mkfifo "$tmp/hold"
for k in 1 2; do
	pvledger "/pvfs/ledger$k" $k <"$tmp/hold" >"$tmp/ledger$k" 2>&1 &
	ledger[k]=$!
done
exec 5>"$tmp/hold"
for n in 1 2 3; do
	expect ok pvio create /pvfs "round$n." 20 1
	expect ok pvio write "/pvfs/written$n" 0 300000 $n
	backup "$tmp/copy$n" || fail "$(<"$tmp/output")"
	says 'backup of the database' "$tmp/output"
done
until_true 30 [ -e /proc/"${ledger[1]}" ]
exec 5>&-
for k in 1 2; do
	wait "${ledger[k]}" || fail "a client was disturbed: $(<"$tmp/ledger$k")"
done
expect ok pvio create /pvfs later. 20 1

for n in 1 2 3; do
	must cluster stop-mgr
	[ $n = 1 ] && mv "$state/mgr" "$tmp/lost"
	rm -rf "$state/mgr"
	cp -a "$tmp/copy$n" "$state/mgr"
	must mgr --check
	must mgr --restore
	must cluster start-mgr >/dev/null
	fsck --repair >found || [ $? = 1 ] || fail "$(<found)"
	must fsck >found
	expect ok pvio check /pvfs/kept 0 300000 1
	pvio names /pvfs >names
	[ "$(grep -c '^old-file' names)" = 3000 ] || fail "files of before are missing in copy $n"
	for ((k = 1; k <= n; k++)); do
		[ "$(grep -c "^round$k\." names)" = 20 ] || fail "files of round $k are missing in copy $n"
	done
	expect ok pvio chmod 600 "/pvfs/written$n"
	grep -q '^later' names && fail "copy $n has files of later"
	expect ok pvio check "/pvfs/written1" 0 300000 1
	expect ok pvio write "/pvfs/new$n" 0 300000 $n
	expect ok pvio check "/pvfs/new$n" 0 300000 $n
done

# ---- one copy at a time, and a command that takes no data ----
stall
works 600
must_fail backup "$tmp/second"
says 'another backup of' "$tmp/output"
[ ! -e "$tmp/second" ] || fail "a refused backup left a directory"
expect ok pvio create /pvfs while-it-stalls. 500 1
end_stall
until_true 30 is_free
stall
expect ok pvio create /pvfs and-still. 500 1
until_true 120 grep -q 'took no data' "$(log_of mgr)"
backup "$tmp/second" || fail "$(<"$tmp/output")"
end_stall

# ---- the directory of a copy ----
must_fail backup "$tmp/second"
says 'is not empty' "$tmp/output"
must_fail backup "$state/mgr"
says 'is not empty' "$tmp/output"
must_fail backup "$tmp/none/copy"
says 'No such file' "$tmp/output"
mkdir "$tmp/empty" && chmod 700 "$tmp/empty"
backup "$tmp/empty" || fail "$(<"$tmp/output")"
[ -e "$tmp/empty/pvfs-stamp" ] || fail "no copy in a directory that was empty"

# ---- a backup that is interrupted ----
# interrupt WHAT: kills it while a copy is written, with some tries to come in time
interrupt() {
	local try pid rc

	for try in {1..30}; do
		"$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" --backup "$tmp/cut" \
			>"$tmp/output" 2>&1 &
		pid=$!
		until [ -e "$tmp/cut/db.partial" ] || ! kill -0 $pid 2>/dev/null; do :; done
		kill -STOP $pid 2>/dev/null
		[ "$1" != mgr ] || must cluster kill-mgr
		[ "$1" != command ] || kill -KILL $pid 2>/dev/null
		kill -CONT $pid 2>/dev/null
		wait $pid 2>/dev/null
		rc=$?
		[ "$1" != mgr ] || must cluster start-mgr >/dev/null
		[ $rc = 0 ] || return 0
		rm -r "$tmp/cut"
	done
	fail "no copy was interrupted"
}
interrupt mgr
says 'did not send all' "$tmp/output"
[ ! -e "$tmp/cut" ] || fail "something is left of a copy: $(ls -A "$tmp/cut")"
interrupt command
[ ! -e "$tmp/cut/pvfs-stamp" ] || fail "a copy that was cut off looks complete"
must_fail backup "$tmp/cut"
says 'is not empty' "$tmp/output"
starts_not "$tmp/cut"
rm -r "$tmp/cut"
until_true 30 is_free

# a manager that stops does not wait for its command
stall
must cluster stop-mgr
end_stall
must_fail backup "$tmp/cut"
says 'does it run, and does it lead?' "$tmp/output"
[ ! -e "$tmp/cut" ] || fail "something is left of a copy without a manager"
must cluster start-mgr >/dev/null

# ---- only root and the user of the manager ----
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$tmp" "$state" "$state/mgr"
	cp "$PVFS_BUILD/mgr/pvfs-mgr" "$tmp/pvfs-mgr"
	mkdir -m 777 "$tmp/theirs"
	chmod 644 "$state/pvfs.conf"
	must_fail setpriv --reuid=65534 --regid=65534 --clear-groups -- \
		"$tmp/pvfs-mgr" --config "$state/pvfs.conf" --backup "$tmp/theirs/copy"
	says 'run this as root' "$tmp/output"
	[ -z "$(ls -A "$tmp/theirs")" ] || fail "another user got a copy"
	expect 600 stat -c %a "$state/mgr/backup.socket"
	# if the mode of the socket is changed, the kernel still identifies the user
	chmod 666 "$state/mgr/backup.socket"
	expect '-1 0' setpriv --reuid=65534 --regid=65534 --clear-groups -- \
		/usr/bin/python3 -c '
import os, socket, struct, sys
os.chdir(sys.argv[1])
s = socket.socket(socket.AF_UNIX)
s.connect("backup.socket")
print(struct.unpack("IIi", s.recv(12, socket.MSG_WAITALL))[2], len(s.recv(1)))' "$state/mgr"
	chmod 600 "$state/mgr/backup.socket"
	# the copy belongs to the owner of the database
	chown 65534:65534 "$state/mgr/db"
	backup "$tmp/given" || fail "$(<"$tmp/output")"
	chown 0:0 "$state/mgr/db"
	strange=$(find "$tmp/given" ! -uid 65534 -o ! -gid 65534)
	[ -z "$strange" ] || fail "not of the user of the manager: $strange"
fi

# ---- a full disk ----
small_disk "$tmp/small" 1
must_fail backup "$tmp/small/copy"
says 'No space left' "$tmp/output"
[ -z "$(ls -A "$tmp/small")" ] || fail "something is left of a copy: $(ls -A "$tmp/small")"
must_fail backup "$tmp/small"
[ -z "$(ls -A "$tmp/small")" ] || fail "something is left of a copy: $(ls -A "$tmp/small")"
works 640
