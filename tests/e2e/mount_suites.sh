#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Third-party suites for file systems find no error in a mount, with each kind of cache, nor past
# it: stress-ng's calls of file systems, fio's data with its checks in each way that Linux has to
# move some, dbench's clients, small files by postmark.  SUITES_SECONDS (20): of stress-ng;
# SUITES_CACHES.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
for tool in stress-ng fio dbench postmark; do requires tool $tool; done

# Not those that are about other file systems, or look at all that are mounted: fanotify opens
# what others do on theirs, which cannot be unmounted then, and getdent walks through /tmp.
stressors='access chattr chdir chmod chown copy-file dentry dir dirdeep dirmany dup
	fallocate fcntl fiemap file-ioctl filename flock fpunch fsize fstat
	handle hdd inode-flags io iomix lease link locka lockf lockofd mknod open
	rename symlink sync-file touch utime verity xattr'
leave() { cd "$tmp" || exit; }
at_end leave
# ran WHAT COMMAND...: well, in the end
ran() {
	timeout -k 5 300 "${@:2}" >"$tmp/said" 2>&1 ||
		fail "$way: $1: exit $?: $(grep -v dispatching "$tmp/said" | head -n 12)"
}
# All at once.
stress() {
	local one calls=()

	# of data that went past the mount the kernel tells nobody (docs/posix.md)
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
