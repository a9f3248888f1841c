#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --help, the man page and the program itself agree on the options.
. "$(dirname "$0")/functions.sh"

# Prints the names in the option column of --help.
in_help() {
	"$1" --help | grep -E '^ +-' | sed -E 's/^ +//; s/  .*//' |
		grep -oE -- '--?[A-Za-z][A-Za-z-]*' | LC_ALL=C sort -u
}
# Prints the names at the head of the paragraphs of OPTIONS.
in_page() {
	sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "$1" | grep -A 1 '^\.TP' |
		grep -E '^\.B[RI]? ' | sed 's/\\-/-/g' |
		grep -oE -- '(^|[ ,"])--?[A-Za-z][A-Za-z-]*' |
		grep -oE -- '--?[A-Za-z][A-Za-z-]*' | LC_ALL=C sort -u
}

checked=0
for page in "$top"/client/tools/{files,admin,monitor,job}/*.1 "$top"/server/*.8 "$top"/mgr/*.8 \
		"$top"/mgr/fsck/*.8 "$top"/client/fuse/*.8 "$top"/conf/*.8 \
		"$top"/tests/bench/*.1; do
	tool=$(basename "${page%.*}")
	case $tool in
	pvfs-cluster|pvfs-mkconf) program=$top/scripts/${tool#pvfs-} ;;
	*)	# upgrade.sh keeps an older release in before-*
		program=$(find "$PVFS_BUILD" -path "*/before-*" -prune -o \
			-name "$tool" -type f -perm -u=x -print | head -n 1) ;;
	esac
	if [ -z "$program" ] && [[ $tool == pvfs-fuse || $tool == pvfs-perf ]]; then
		say "without $tool"
		continue
	fi
	[ -n "$program" ] || fail "$tool has a page and no program"
	in_help "$program" >"$tmp/help"
	in_page "$page" >"$tmp/page"
	[ -s "$tmp/help" ] || fail "$tool --help names no options"
	for option in --help --version; do
		grep -q -- "$option" help || continue
		"$program" $option >/dev/full 2>err && fail "$tool $option to a full disk exits 0"
	done
	diff "$tmp/help" "$tmp/page" >"$tmp/diff" ||
		fail "$tool: --help (<) and its page (>): $(cat "$tmp/diff")"
	# the program accepts each option, although it may then report a wrong use
	while read -r option; do
		case $option in --help|--version) continue ;; esac
		timeout 20 "$program" "$option" --help >"$tmp/out" 2>&1 </dev/null
		! grep -qE 'unrecognized|invalid option' "$tmp/out" ||
			fail "$tool does not know $option: $(cat "$tmp/out")"
	done <"$tmp/help"
	checked=$((checked + 1))
done

# ---- the pages have all settings of pvfs.conf and pvfstab in administrators.md ----
settings() { # SECTION...
	awk -F '|' -v want=" $* " '
		/^## / { here = ($0 == "## pvfs.conf") }
		here && $2 !~ /^ *$/ { section = $2 }
		here && NF > 4 && $3 ~ /^ [a-z_, ]+ $/ && $3 !~ / key $/ {
			split(section, s, /[ ,()]+/)
			for (i in s) if (s[i] != "" && index(want, " " s[i] " ")) { gsub(/,/, " ", $3); print $3; break } }' \
		"$top/docs/administrators.md" | tr -s ' ' '\n' | sed '/^$/d'
}
has_settings() { # PAGE NAME...
	local page=$1 name
	shift
	[ $# -gt 8 ] || fail "$page: only $* are in administrators.md"
	for name; do
		grep -qE "^\.B[IR]? .*\b$name\b ?(=|:|\"| )" "$page" || fail "${page##*/} has no $name"
	done
}
# shellcheck disable=SC2046
has_settings "$top/mgr/pvfs-mgr.8" $(settings filesystem mgr)
has_settings "$top/server/pvfs-iod.8" $(settings iod iod.K)
# shellcheck disable=SC2046
has_settings "$top/client/pvfstab.5" \
	$(sed -n '/^## pvfstab/,/^## /p' "$top/docs/administrators.md" | grep -oE '`[a-z_]+=`' | tr -d '`=')
say "$checked programs"
[ $checked -ge 13 ]
