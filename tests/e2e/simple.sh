# SPDX-License-Identifier: BSD-2-Clause
# simple.sh - simple programs and redirections of the shell work in a folder, and print their
# results as text. Run by a shell with this folder, and a folder of source files, as arguments.
at=$1 from=$2
mkdir "$at" || exit

# one command after the other, with absolute paths
mkdir -p "$at/a/b/c" && rmdir "$at/a/b/c" && ls -a "$at/a/b"
cp -r "$from" "$at/tree" && diff -r --no-dereference "$from" "$at/tree"
cp -a "$from" "$at/kept" && (cd "$at/kept" && find . -printf '%P %y %m %s %T@ %l\n') |
	grep -v ' d ' | LC_ALL=C sort
find "$at/tree" -type f | wc -l
ls -l "$at/kept" | grep -v total | cut -c 1-10
cp "$from/big" "$at/big" && cmp "$from/big" "$at/big" && echo same
dd if="$at/big" of="$at/copy" bs=36k conv=fsync status=none && cmp "$at/big" "$at/copy"
dd if="$at/big" of="$at/copy" bs=4k count=3 skip=5 seek=7 conv=notrunc status=none
md5sum <"$at/copy"
md5sum "$at/big" | cut -c 1-32
wc -l "$at/tree/text" | cut -d ' ' -f 1
head -n 3 "$at/tree/text" && tail -n 2 "$at/tree/text" && tail -c +20 "$at/tree/text" | head -c 9
stat -c '%F %a %h' "$at/tree" && stat -c '%F %a %s %h' "$at/big" "$at/kept/link"
touch -d '2001-02-03 04:05:06.789 UTC' "$at/old" && stat -c %y "$at/old"
ln -s big "$at/link" && readlink "$at/link" && md5sum <"$at/link"
ln "$at/big" "$at/hard" && stat -c %h "$at/big" && rm "$at/hard"
mv "$at/big" "$at/a/moved" && ls "$at/a" && mv "$at/a/moved" "$at/big"
mv "$from/../outside" "$at/in" && cat "$at/in" && mv "$at/in" "$from/../outside"
chmod 640 "$at/copy" && stat -c %a "$at/copy" && truncate -s 5 "$at/copy" && wc -c <"$at/copy"
echo one | tee "$at/t1" "$at/t2" | cat - "$at/t1" && cmp "$at/t1" "$at/t2"
grep -c line "$at/tree/text" && sed -i s/line/LINE/ "$at/tree/text" && grep -c LINE "$at/tree/text"
sort -r "$at/tree/text" -o "$at/sorted" && uniq "$at/sorted" "$at/uniq" && md5sum <"$at/uniq"
tar cf "$at/x.tar" -C "$at" tree && mkdir "$at/out" && tar xf "$at/x.tar" -C "$at/out" &&
	diff -r --no-dereference "$at/tree" "$at/out/tree" && echo unpacked
gzip -c "$at/big" >"$at/big.gz" && gunzip -c "$at/big.gz" | cmp - "$at/big"
f=$(mktemp "$at/tmp.XXXXXX") && [ -f "$f" ] && rm "$f"

# redirections: of the shell's own commands and of programs
echo first >"$at/r" && printf '%s\n' second >>"$at/r" && date -u -d @0 >>"$at/r" && cat "$at/r"
cat <"$at/r" && wc -l <"$at/r" && cat - "$at/r" <"$at/r"
while read -r word _; do echo "$word"; done <"$at/r"
{ echo group; ls "$at"; md5sum </dev/null; } >"$at/g" && cat "$at/g"
exec 7<>"$at/seven" && echo seven >&7 && cat "$at/seven" && exec 7>&-
cat /dev/stdin <"$at/r" && wc -c /dev/fd/6 6<"$at/r" && stat -L -c '%s %F' /dev/fd/6 6<"$at/r"
ls "$at/nothing" 2>"$at/err" || grep -c nothing "$at/err"
echo "echo from a script" >"$at/script" && sh "$at/script"
echo noclobber >"$at/no" && (set -C && echo again >"$at/no") 2>/dev/null || cat "$at/no"

# with the folder as working directory
cd "$at" && [ "$(pwd)" = "$at" ] && [ "$(pwd -P)" = "$at" ] && ls && cat r
mkdir -p x/y/z && cp r x/y && cd x && find . | LC_ALL=C sort && cat ../r && cd y/z && ls ..
(cd .. && rm r && ls) && cd "$at" && rm -r x && [ ! -e x ] && echo removed
sh -c 'ls tree; cat <r >r2; cmp r r2 && pwd' | sed "s,$at,HERE,"

# errors on purpose
cat "$at/none" || rmdir "$at/tree" || mkdir "$at/tree" || cat "$at/tree" || rm "$at/tree"
cd / && rm -r "$at" && ls "$at"
