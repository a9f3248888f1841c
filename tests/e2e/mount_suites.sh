#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Third-party suites for file systems find no error on a mount, with each kind of cache, nor in
# bypass of it: the file system calls of stress-ng; fio with verification, in each way of Linux to
# move data; the clients of dbench; small files of postmark. SUITES_SECONDS (20) is the duration of
# stress-ng; SUITES_CACHES selects caches.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
for tool in stress-ng fio dbench postmark; do requires tool $tool; done

# Without the stressors that test other file systems, or access all that are mounted. fanotify would
# keep mounts of other tests busy, and getdent walks through /tmp.
stressors='access chattr chdir chmod chown copy-file dentry dir dirdeep dirmany dup
	fallocate fcntl fiemap file-ioctl filename flock fpunch fsize fstat
	handle hdd inode-flags io iomix lease link locka lockf lockofd mknod open
	rename symlink sync-file touch utime verity xattr'
leave() { cd "$tmp" || exit; }
at_end leave
# ran WHAT COMMAND...: the command succeeds, possibly after retries
ran() {
	timeout -k 5 300 "${@:2}" >"$tmp/said" 2>&1 ||
		fail "$way: $1: exit $?: $(grep -v dispatching "$tmp/said" | head -n 12)"
}
# Runs all stressors concurrently.
stress() {
	local one calls=()

	# the kernel reports no events for data that bypassed the mount (docs/posix.md)
	[ $way = past-none ] || calls=(--dnotify 1 --inotify 1)
	for one in $stressors; do calls+=(--$one 1); done
	ran stress-ng stress-ng "${calls[@]}" -t "${SUITES_SECONDS:-20}" --verify --temp-path .
	! grep -q 'fail:' "$tmp/said" || fail "$way: $(grep fail: "$tmp/said")"
}
check_data() {
	local engine how

	for engine in psync pvsync2 mmap libaio io_uring posixaio splice; do
		how='--rw=randwrite --bsrange=1k-64k --bs_unaligned=1'
		[ $engine = splice ] && how='--rw=write --bs=64k'
		ran "fio $engine" fio --name=x --directory=. --size=4m $how \
			--ioengine=$engine --iodepth=8 --numjobs=2 --verify=crc32c \
			--verify_fatal=1 --fallocate=none
		rm -f ./*
	done
}
clients() {
	ran dbench dbench -D . -t 3 -c /usr/share/dbench/client.txt 4
	! grep -q 'failed' "$tmp/said" || fail "$way: dbench: $(cat "$tmp/said")"
	ran postmark postmark "$tmp/postmark"
	grep -q '[0-9] created' "$tmp/said" || fail "$way: postmark: $(cat "$tmp/said")"
}
suites() {
	mkdir "$1" && cd "$1" || exit
	stress
	check_data
	clients
	cd "$tmp" && rm -r "$1" || fail "$way: something is left"
	say "$way: stress-ng, fio, dbench and postmark find nothing"
}

printf 'set size 500 20000\nset number 300\nset transactions 200\nrun\nquit\n' >"$tmp/postmark"
start_pvfs -n 3
for cache in ${SUITES_CACHES:-none open}; do
	mount_at "$tmp/m" -o cache=$cache
	way=$cache
	suites "$tmp/m/w"
	way=past-$cache
	past_all
	suites "$tmp/m/w"
	past_none
	unmount "$tmp/m" $daemon
done
