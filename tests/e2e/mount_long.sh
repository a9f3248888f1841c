#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pip in an environment of its own, and a compile of this project in its tree and
# beside it, give on a mount what they give elsewhere: with cache=open, and with
# cache=none and the preload library.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
. "$e2e/apps.sh"
. "$e2e/apps_long.sh"

start_pvfs -n 3
elsewhere pip build_inside build_beside
grep -q greetings "$tmp/want.pip" || fail "pip: $(cat "$tmp/want.pip")"
for what in build_inside build_beside; do
	grep -q 'it works' "$tmp/want.$what" || fail "$what: $(cat "$tmp/want.$what")"
done
mount_at "$tmp/m" -o cache=open
as_elsewhere "$tmp/m/open" build_inside pip
unmount "$tmp/m" $daemon

# Each as a user does it: those that move little do not connect by themselves.
mount_at "$tmp/m" -o cache=none
past_all
unset PVFS_PRELOAD_AFTER
as_elsewhere "$tmp/m/none" build_beside pip
past_none
unmount "$tmp/m" $daemon
