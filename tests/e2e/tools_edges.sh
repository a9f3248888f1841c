#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Edge cases of the tools: empty names, full outputs, files that do not report their size, and
# unusual names.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 2
is_dir() { [ "$(pvfs-stat -j "$1" | grep -c '"directory"')" = 1 ]; }

# an empty name counts as missing, and does not affect the next name
must_fail pvfs-mkdir -p "" /pvfs/a/b
must is_dir /pvfs/a/b
must_fail pvfs-rm ""

# a missing name leaves no blank line in the list
expect "/pvfs/a:
b" pvfs-ls /pvfs/absent /pvfs/a /pvfs/absent

# an invalid value is named, and so are the valid ones
while read -r command option value want; do
	must_fail "$command" "$option" "$value" a b
	grep -q "^$command: $option $value: want $want" "$tmp/output" ||
		fail "$command $option $value said: $(cat "$tmp/output")"
done <<-END
	pvfs-cp -s 1Q a number from 64 to 1G
	pvfs-cp --jobs 0 a number from 1 to 64
	pvfs-cp -k 1 a number from 64K to 256M
	pvfs-ping -t 0 a number from 1 to 3600000
	pvfs-test -b 3x a number from 1 to 1T
END
for script in quickstart test; do
	must_fail "$top/scripts/$script" foo
	grep -q "foo: no such" "$tmp/output" ||
		fail "$script said: $(cat "$tmp/output")"
done

# without a mount there is nothing to show or change; a skipped line of pvfstab is no mount
echo "127.0.0.1:/ /pvfs pvfs prot=3000 0 0" >"$tmp/skipped"
mkdir "$tmp/local"
touch "$tmp/local/file"
writers="cp -r $tmp/local $tmp/copy
mkdir -p $tmp/copy/dir
mv $tmp/local $tmp/copy
rm -r $tmp/local
chmod 700 $tmp/local
chown 0 $tmp/local
test -b 1 -f $tmp/copy"
for tab in /dev/null "$tmp/nothing" "$tmp/skipped"; do
	while read -r command; do
		PVFSTAB_FILE=$tab must_fail pvfs-$command
		grep -q "^pvfs-${command%% *}: no mount: set PVFSTAB_FILE" \
			"$tmp/output" || fail "$command said: $(cat "$tmp/output")"
	done <<-END
		df
		df /pvfs
		ping
		ping /pvfs
		ls
		ls /pvfs
		cat $tmp/local/file
		stat $tmp/local/file
		$writers
	END
done
grep -q "skipped:1" "$tmp/output" || fail "said: $(cat "$tmp/output")"

# these commands change files of a mount, not only ordinary ones
while read -r command; do
	must_fail pvfs-$command
	grep -q "lies on no mount" "$tmp/output" ||
		fail "$command said: $(cat "$tmp/output")"
done <<<"$writers"
[ -e "$tmp/local/file" ] && [ ! -e "$tmp/copy" ] || fail "$(ls "$tmp")"
must grep -q "use rm" <(pvfs-rm "$tmp/local/file" 2>&1)
must pvfs-rm -f

# an invalid time limit is replaced by another one, and this is printed
PVFS_TIMEOUT=0 must pvfs-ls /pvfs 2>"$tmp/output"
grep -q "PVFS_TIMEOUT=0: want 1 to 86400 seconds; using 30" "$tmp/output" ||
	fail "ls said: $(cat "$tmp/output")"

must_fail pvfs-df "$tmp"
grep -q "lies on no mount" "$tmp/output" || fail "df said: $(cat "$tmp/output")"
# a copy whose output cannot be written has failed
expect ok pvio write /pvfs/file 0 100000 1
for command in "pvfs-ls /pvfs" "pvfs-ls -j /pvfs" "pvfs-stat /pvfs/file" \
		"pvfs-df" "pvfs-df -j" "pvfs-ping" "pvfs-cat /pvfs/file" \
		"pvfs-cp --json /pvfs/file /pvfs/other" "pvfs-test -c -u -b 4096 -f /pvfs/t" \
		"pvfs-perf list-experiments"; do
	$command >/dev/full 2>"$tmp/stderr" && fail "no error: $command"
	grep -q "standard output" "$tmp/stderr" ||
		fail "$command: $(cat "$tmp/stderr")"
done

# files that report a size of 0 are read to their end
must pvfs-cp --verify /proc/version /pvfs/version
must cmp /proc/version <(pvfs-cat /pvfs/version)

# the size of a device cannot be set
for file in /pvfs/file /pvfs/version; do
	must pvfs-cp "$file" /dev/null
	must_fail pvfs-cp "$file" /dev/full
	grep -q "No space left" "$tmp/output" || fail "$(cat "$tmp/output")"
done

# a folder is not a pvfstab
PVFSTAB_FILE=$tmp must_fail pvfs-ls /pvfs
grep -q "PVFSTAB_FILE=$tmp: Is a directory" "$tmp/output" ||
	fail "$(cat "$tmp/output")"

# existing names stay, also symbolic links, and this is no failure
mkdir "$tmp/tree"
echo new >"$tmp/tree/file"
ln -s new "$tmp/tree/link"
must pvfs-cp -r "$tmp/tree" /pvfs/kept
echo newer >"$tmp/tree/file"
ln -sfn newer "$tmp/tree/link"
must pvfs-cp -rN "$tmp"/tree/* /pvfs/kept
expect new pvfs-cat /pvfs/kept/file
must grep -q 'link -> new$' <(pvfs-ls -l /pvfs/kept)

# these are probably mistakes
mkdir "$tmp/careful"
echo 1 >"$tmp/careful/file"
for path in . .. "$tmp/careful/." "$tmp/careful/../careful/.//"; do
	(cd "$tmp/careful" && must_fail pvfs-rm -rf "$path" /pvfs/none) || exit 1
	grep -q "refused" "$tmp/output" || fail "rm -rf $path was tried"
	[ -e "$tmp/careful/file" ] || fail "rm -rf $path did it"
done

# a concurrent removal by others is no failure
mkdir -p "$tmp/rt/"{1,2,3,4,5}/{1,2,3,4,5}
for dir in "$tmp/rt/"*/*; do touch "$dir"/{x,y}; done
for turn in 1 2 3 4; do
	must pvfs-mkdir -p /pvfs/race
	must pvfs-cp -r "$tmp/rt" /pvfs/race/t
	removers=()
	for i in 1 2 3; do
		pvfs-rm -rf /pvfs/race/t 2>"$tmp/rm$i" &
		removers+=($!)
	done
	pvfs-chown -R 1:2 /pvfs/race >"$tmp/output" 2>&1 || fail "chown: $(<"$tmp/output")"
	pvfs-chmod -R go-x /pvfs/race >"$tmp/output" 2>&1 || fail "chmod: $(<"$tmp/output")"
	for i in 1 2 3; do
		wait "${removers[i - 1]}" || fail "rm: $(<"$tmp/rm$i")"
	done
	must_fail pvfs-stat /pvfs/race/t
done

# a symbolic link that leads out of the mount
expect ok pvio symlink "$tmp/careful" /pvfs/out
must pvfs-stat /pvfs/out/file

# rm does not empty a mount that it cannot remove
expect ok pvio mkdir /pvfs/dir
for path in /pvfs /pvfs/ //pvfs; do
	must_fail pvfs-rm -rf "$path"
	grep -q "$path: refused" "$tmp/output" || fail "$(cat "$tmp/output")"
done
(cd / && must_fail pvfs-rm -r pvfs) || exit 1
must is_dir /pvfs/dir
must pvfs-rm -r /pvfs/dir

# JSON has the number of stripes
expect ok pvio write /pvfs/long 0 $((20 * 65536)) 1
for option in '' -a; do
	must grep -q '"stripe_count": *20' <(pvfs-stat -j $option /pvfs/long)
done
