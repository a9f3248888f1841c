#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Completion in a real bash on a terminal, and its suggestions for each program.
. "$(dirname "$0")/functions.sh"
requires tool python3
export PATH=$PVFS_BUILD/mgr:$PVFS_BUILD/mgr/fsck:$PVFS_BUILD/server:$PVFS_BUILD/client/fuse:$PVFS_BUILD/client/preload:$PATH
export PATH=$PVFS_BUILD/tests/bench:$PATH
rules=$top/conf/completion

start_pvfs -n 2
cp "$rules" rules && ln -s "$top/scripts/cluster" pvfs-cluster
ln -s "$top/scripts/mkconf" pvfs-mkconf
export PATH=$tmp:$PVFS_BUILD/conf:$PATH
mkdir here "here/a folder"
touch here/file
must pvfs-mkdir /pvfs/some /pvfs/some/deep "/pvfs/some/two words"
must pvfs-cp "$rules" /pvfs/some/data

# offers WORD...: prints the completions of the last word
offers() {
	bash --norc -c '. rules
		compopt() { :; }
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_pvfs "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | paste -sd ' '
}

# ---- each program that is installed, and each of its options ----
programs=$(sed -n '/^complete/,$p' rules | tr -d '\\\n' | sed 's/complete -F _pvfs//; s/mount.fuse.pvfs//')
for program in "$top"/client/tools/{files,admin,monitor,job}/*.1 "$top"/*/*.8 "$top"/*/*/*.8 "$top"/*/*/*.1; do
	program=${program##*/}
	case " $(echo $programs) " in
	*" ${program%.*} "*) ;;
	*)	fail "${program%.*} is not completed" ;;
	esac
done
# all_offered PROGRAM [COMMAND]: checks that the options of its help are offered
all_offered() {
	local option n=0 have=" $(offers "$@" -) "

	for option in $("$@" --help 2>&1 | grep -oE '^ +(-[a-zA-Z], )?--[a-z][a-z-]*' | grep -oE -e '--[a-z-]*'); do
		[[ $have == *" $option "* ]] || fail "$*: $option is not in $have"
		n=$((n + 1))
	done
	[ $n -gt 0 ] || fail "$*: its help names no options"
}
for program in $programs; do
	case $program in
	pvfs-preload) continue ;;
	pvfs-fuse|pvfs-exporter|pvfs-perf) # not in every build
		command -v $program >/dev/null || { say "without $program"; continue; } ;;
	esac
	case $program in
	pvfs-job) for job in start stop status env exec stage-in stage-out; do all_offered pvfs-job $job; done ;;
	*)	all_offered $program ;;
	esac
done
have=$(offers pvfs-fuse h:/ d -o '')
for option in $(grep -oE '^\.BI? [^ ]*=|" [a-z_]*= N' "$top/client/pvfstab.5" | grep -oE '[a-z_]+='); do
	[[ " $have" == *" $option"* ]] || fail "pvfs-fuse -o: $option is not in $have"
done
expect '--preserve' offers pvfs-cp --pres
expect '--long' offers pvfs-ls --lo

# ---- paths, mounted or not ----
expect '/pvfs/' offers pvfs-ls /pv
expect '/pvfs/some/' offers pvfs-ls /pvfs/so
expect '/pvfs/some/data /pvfs/some/deep/ /pvfs/some/two words/' offers pvfs-cp /pvfs/some/
expect 'here/a folder here/file' offers pvfs-cp here/
expect '' offers pvfs-ls /pvfs/none/

# ---- values ----
expect '0 1' offers pvfs-iod --config "$state/pvfs.conf" --index ''
expect 'start start-iod start-mgr' offers pvfs-cluster star
expect '/pvfs' offers pvfs-exporter /p
expect 'local' offers pvfs-cluster start --transport l
expect 'on off' eval 'offers pvfs-cluster start --sync "" | tr " " "\n" | sort -r | paste -sd " "'
expect 'cache=none cache=open' offers pvfs-fuse h:/ d -o ca
expect 'ro,cache=none ro,cache=open' offers pvfs-fuse h:/ d -o ro,ca
expect '3000,auth=key 3000,auth=munge' offers pvfs-fuse h:/ d -o port = 3000,au

# ---- a terminal ----
cat >terminal.py <<'END'
import os, pty, select, sys, time

pid, fd = pty.fork()
if not pid:
    os.environ["TERM"] = "dumb"
    os.environ["PS1"] = "$ "
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])


def until(text):
    seen, end = "", time.monotonic() + 60
    while text not in seen:
        if time.monotonic() > end or not select.select([fd], [], [], 60)[0]:
            sys.exit(f"no {text!r} in {seen!r}")
        seen += os.read(fd, 4096).decode()


until("$ ")
os.write(fd, b"bind 'set bell-style none'; . ./rules; echo loaded''now\n")
until("loadednow")
os.write(fd, b"pvfs-ls --recur\t")
until("--recursive ")
os.write(fd, b"/pvfs/some/two\t")
until("two\\ words/")
os.write(fd, b" /pvfs/some/da\t; echo the''end\n")
until("/pvfs/some/data ")
until("theend")
os.write(fd, b"exit\n")
os.waitpid(pid, 0)
END
must python3 terminal.py

# ---- without servers nothing waits ----
must cluster stop
expect '' offers pvfs-ls /pvfs/some/
exit 0
