#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pip in its own environment, and a compile of a part of this project inside and outside its tree,
# give the same results on a mount as elsewhere. They run with cache=open, and with cache=none and
# the preload library. LONG_WAYS selects others, with the whole project: none, open, past-none and
# past-open.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
. "$e2e/apps.sh"
. "$e2e/apps_long.sh"

# within WAY NAME...: the results are those of elsewhere. As for a user, programs that move little
# data make no connection with the library.
within() {
	local way=$1 cache=${1#past-}
	shift

	mount_at "$tmp/m" -o cache=$cache
	[ $way = $cache ] || past_all
	unset PVFS_PRELOAD_AFTER
	as_elsewhere "$tmp/m/$way" "$@"
	past_none
	unmount "$tmp/m" $daemon
	say "$way: $* are as elsewhere"
}

[ -z "${LONG_WAYS:-}" ] || LONG_SOURCE=whole
start_pvfs -n 3
elsewhere pip build_inside build_beside
grep -q greetings "$tmp/want.pip" || fail "pip: $(cat "$tmp/want.pip")"
for what in build_inside build_beside; do
	grep -q 'it works' "$tmp/want.$what" || fail "$what: $(cat "$tmp/want.$what")"
done
if [ -n "${LONG_WAYS:-}" ]; then
	for way in $LONG_WAYS; do within $way pip build_inside build_beside; done
else
	within open build_inside pip
	within past-none build_beside pip
fi
