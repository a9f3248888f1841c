#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Without a mount: simple programs with the library give the same results on pvfstab's paths as on a
# local disk, and nothing is written to the local folder of that name.
. "$(dirname "$0")/functions.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
mkdir "$tmp/point" "$tmp/from" "$tmp/from/sub"
sed "s, /pvfs , $tmp/point ," "$PVFSTAB_FILE" >"$tmp/pvfstab"
grep -q "$tmp/point" "$tmp/pvfstab" || fail "pvfstab has another form"
export PVFSTAB_FILE=$tmp/pvfstab
seq -f 'line %g' 100 >"$tmp/from/text"
head -c 3000000 /dev/urandom >"$tmp/from/big"
ln -s text "$tmp/from/link"
echo deep >"$tmp/from/sub/file" && chmod 4751 "$tmp/from/sub/file"
touch -d '2001-02-03 04:05:06.789 UTC' "$tmp/from/text"
echo outside >"$tmp/outside"

# results SHELL DIR COMMAND...: the results of simple.sh in DIR/work, run by COMMAND SHELL
results() {
	local shell=$1 dir=$2
	shift 2

	"$@" timeout 300 "$shell" "$e2e/simple.sh" "$dir/work" "$tmp/from" 2>&1 |
		sed "s,$dir/work,HERE,g"
}
mkdir "$tmp/local"
shells="bash dash"
[ "${PVFS_TEST_SCHEME:-tcp}" = tcp ] || shells=bash
for shell in $shells; do
	results $shell "$tmp/local" env >"$tmp/want"
	results $shell "$tmp/point" past >"$tmp/have"
	diff "$tmp/want" "$tmp/have" || fail "$shell: not as elsewhere"
	grep -q removed "$tmp/want" || fail "simple.sh did not come so far"
done
expect "" find "$tmp/point" -mindepth 1

# ---- a removed directory of another user's, which has the name of one of ours ----

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	his() { setpriv --reuid=1 --regid=1 --clear-groups -- "$@"; }
	his_dir=$tmp/pub/pvfs-cwd.abcdef$tmp/point/work
	mkdir -m 1777 "$tmp/pub"
	must pvfs-mkdir "$tmp/point/work"
	must his mkdir -p "$his_dir"
	cd "$his_dir"
	must his rmdir "$his_dir"
	must_fail past mkdir made
	cd "$tmp"
	expect "" pvfs-ls "$tmp/point/work"
fi
