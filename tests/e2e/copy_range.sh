#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# copy_file_range: the iods copy from each other, and the client does the rest. If an iod is
# stopped, ends, or has a full disk, the call fails, and no data is lost that was reported as
# copied.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
requires python3

small_disk "$state/iod3" 24
export PVFS_TIMEOUT=4
start_pvfs -n 4
mount_at "$tmp/m"

must python3 "$e2e/copy_range.py" "$tmp/m" ${COPY_SEED:-$RANDOM} ${COPY_STEPS:-40}
grep -q 'pvfs-iod [0-3]).*opens session' "$(log_of iod0)" ||
	fail "no iod has copied from another one"
rm "$tmp"/m/copy.?
must past python3 "$e2e/copy_range.py" "$tmp/m" 1 3
rm "$tmp"/m/copy.?

# a file of many stripes is copied only by iods
head -c 16000000 /dev/urandom >"$tmp/data"
must cp "$tmp/data" "$tmp/m/a"
# (calls to a server that was unavailable fail at once until the client hears from it)
copied() { cp "$tmp/m/a" "$tmp/m/b" && cmp "$tmp/data" "$tmp/m/b"; }
must copied

# an iod that is written, and one that is read, is stopped: the call fails at its deadline
for k in 0 2; do
	stand_still "$(cluster pid $k)"
	must_fail timeout 30 cp "$tmp/m/a" "$tmp/m/b"
	must kill -CONT "$(cluster pid $k)"
	until_true 60 copied
done

# an iod is restarted during the copy
for k in 1 2 3; do
	cp "$tmp/m/a" "$tmp/m/c" &
	copy=$!
	must cluster kill-iod 1
	must cluster start-iod 1 >/dev/null
	if wait $copy; then until_true 60 cmp "$tmp/data" "$tmp/m/c"; fi
	until_true 60 copied
done

# the disk of a target iod is full
must cp "$tmp/m/a" "$tmp/m/more"
room() { cp "$tmp/m/a" "$tmp/m/full.$1"; }
for k in 1 2 3 4 5 6 7; do room $k 2>"$tmp/said" || break; done
grep -q 'No space left' "$tmp/said" || fail "$(cat "$tmp/said")"
rm "$tmp"/m/full.*
until_true 60 copied
unmount "$tmp/m" $daemon

# an iod cannot connect to the others: the client copies
must cluster kill-iod 1
cp "$state/pvfs.conf" "$tmp/conf"
sed -i "s|:$(port_of iod.0)\$|:1|; s|:$(port_of iod.2)\$|:2|" "$state/pvfs.conf"
must cluster start-iod 1 >/dev/null
cp "$tmp/conf" "$state/pvfs.conf"
mount_at "$tmp/m"
until_true 60 copied
grep -q 'the client goes on by itself' "$(log_of iod1)" ||
	fail "iod 1 reaches the others, or nobody asked"
must python3 "$e2e/copy_range.py" "$tmp/m" ${COPY_SEED:-$RANDOM} 5

# when it can, the client does not copy
must cluster kill-iod 1
must cluster start-iod 1 >/dev/null
sessions() { cat "$state"/log/iod[02].log | grep -c 'pvfs-iod 1).*opens session'; }
before=$(sessions)
by_iods() { copied && [ "$(sessions)" -gt "$before" ]; }
until_true 60 by_iods
unmount "$tmp/m" $daemon
