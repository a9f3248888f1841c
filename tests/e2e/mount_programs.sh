#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Ordinary programs on a mounted file system give the same results as elsewhere, with each kind of
# cache.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/ordinary.sh"

start_pvfs -n 3

# Not every local file system supports these attributes.
attributes() {
	expect "b'value' ['user.a', 'user.long']
exists
No data available" python3 - <<-'END'
	import os
	open("x", "w").close()
	os.setxattr("x", "user.a", b"value")
	os.setxattr("x", "user.long", b"v" * 4000)
	print(os.getxattr("x", "user.a"), sorted(os.listxattr("x")))
	try: os.setxattr("x", "user.a", b"", os.XATTR_CREATE)
	except FileExistsError: print("exists")
	os.removexattr("x", "user.a")
	try: os.getxattr("x", "user.a")
	except OSError as e: print(e.strerror)
	os.remove("x")
	END
}
results "$tmp/local" >"$tmp/want"
for cache in none open; do
	mount_at "$tmp/m" -o cache=$cache
	results "$tmp/m/$cache" >"$tmp/have"
	diff "$tmp/want" "$tmp/have" || fail "cache=$cache: not as elsewhere"
	cd "$tmp/m" && attributes && cd "$tmp" || exit 1
	unmount "$tmp/m" $daemon
done
