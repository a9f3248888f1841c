#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Users choose file names freely: on a terminal, lists and messages escape control characters of
# names.  A pipe gets the names unchanged.
. "$(dirname "$0")/functions.sh"

requires tool script
export LC_ALL=C.UTF-8
start_pvfs -n 1

# an escape sequence, a new line, DEL, a C1 control, half a character, a letter
evil=$'a\e]0;x\a\nb\x7f\xc2\x9bc\xc3.\xc3\xa4'
shown='a?]0;x??b??c?.ä'
expect ok pvio mkdir "/pvfs/$evil"
expect ok pvio mkdir "/pvfs/$evil/$evil"
expect ok pvio symlink "$evil" "/pvfs/$evil/link"
expect ok pvio write "/pvfs/$evil/$evil/file" 0 10 1

# on_terminal COMMAND...: prints the output of the command on a terminal
on_terminal() {
	printf '%q ' "$@" >"$tmp/command"
	script -qec "bash $tmp/command" /dev/null </dev/null >"$tmp/shown" 2>&1
	# removes the sequences of pvfs-cp's progress bar
	sed 's/\x1b\[K//g' "$tmp/shown" | tr -d '\r' >"$tmp/output"
	if LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' "$tmp/output" ||
		LC_ALL=C grep -q $'\xc2[\x80-\x9f]' "$tmp/output" ||
		! iconv -f UTF-8 -t UTF-8 "$tmp/output" >/dev/null; then
		fail "$1: $(od -c "$tmp/output")"
	fi
}
says() {
	grep -qF -- "$1" "$tmp/output" ||
		fail "'$1' is not in: $(cat "$tmp/output")"
}

on_terminal pvfs-ls /pvfs
expect "$shown" cat "$tmp/output"
on_terminal pvfs-ls -l "/pvfs/$evil"
says "link -> $shown"
says " $shown"
on_terminal pvfs-ls -R /pvfs
says "/pvfs/$shown/$shown:"
on_terminal pvfs-stat "/pvfs/$evil"
says "/pvfs/$shown: directory"
on_terminal pvfs-cp -rv "/pvfs/$evil" "$tmp/copy"
says "/pvfs/$shown/$shown/file -> $tmp/copy/$shown/file"
for tool in ls stat cat rm mv chmod; do
	case $tool in
	mv) args=("/pvfs/$evil/none" /pvfs/other) ;;
	chmod) args=(700 "/pvfs/$evil/none") ;;
	*) args=("/pvfs/$evil/none") ;;
	esac
	on_terminal "pvfs-$tool" "${args[@]}"
	says "pvfs-$tool: "
	says "/pvfs/$shown/none"
done

# without a terminal: byte for byte
cmp <(pvfs-ls /pvfs) <(printf '%s\n' "$evil") || fail "a pipe got something else"
pvfs-ls "/pvfs/$evil/none" 2>"$tmp/stderr"
grep -qaF $'\e]0;x' "$tmp/stderr" || fail "a file got: $(cat "$tmp/stderr")"
[ -e "$tmp/copy/$evil/file" ] || fail "the copy has other names"
