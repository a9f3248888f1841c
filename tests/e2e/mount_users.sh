#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One pvfs-fuse serves all users of a host, each with their own rights: user, group and
# supplementary groups, whatever names the kernel still caches.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

requires tool setpriv
requires tool setfacl
start_pvfs -n 2

as() { setpriv --reuid="$1" --regid="$2" "${@:3}"; }
alice() { as 1001 1001 --clear-groups -- "$@"; }
bob() { as 1002 1002 --clear-groups -- "$@"; }
carol() { as 1003 1003 --groups 1001,2000 -- "$@"; }	# in alice's group

rights() {
	mkdir "$m/pub" && chmod 1777 "$m/pub"
	must_fail alice mkdir "$m/mine"
	must alice mkdir "$m/pub/a"
	expect '755 1001 1001' stat -c '%a %u %g' "$m/pub/a"
	alice sh -c "umask 027; echo secret >$m/pub/a/f"
	expect '640 1001 1001' stat -c '%a %u %g' "$m/pub/a/f"
	must_fail bob cat "$m/pub/a/f"
	expect secret carol cat "$m/pub/a/f"
	must_fail carol sh -c "echo x >>$m/pub/a/f"
	must_fail carol truncate -s 0 "$m/pub/a/f"
	must_fail bob touch "$m/pub/a/new"
	must_fail bob mv "$m/pub/a" "$m/pub/b"
	must_fail bob chmod 777 "$m/pub/a/f"
	must_fail alice chown 1002 "$m/pub/a/f"
	must alice chmod 644 "$m/pub/a/f"
	expect secret bob cat "$m/pub/a/f"
	# in a directory without search permission, although the name is cached
	must alice chmod 700 "$m/pub/a"
	must stat "$m/pub/a/f" >/dev/null
	must alice stat "$m/pub/a/f" >/dev/null
	must_fail bob cat "$m/pub/a/f"
	must_fail bob stat "$m/pub/a/f"
	must_fail carol ls "$m/pub/a"
	# an open file stays open after its name is removed
	must alice sh -c "exec 7<$m/pub/a/f; rm $m/pub/a/f; cat <&7 >$tmp/seen"
	expect secret cat "$tmp/seen"
	mkdir "$m/pub/group" && chown 0:2000 "$m/pub/group"
	chmod 2775 "$m/pub/group"
	must carol touch "$m/pub/group/c"
	expect '1003 2000' stat -c '%u %g' "$m/pub/group/c"
	must_fail bob touch "$m/pub/group/b"
	rm -r "$m/pub"
}

# The manager knows only capabilities of root; the kernel knows which ones root has dropped.
capable() { # CAPABILITIES COMMAND...: bob with them
	setpriv --reuid=1002 --regid=1002 --clear-groups --inh-caps "$1" \
		--ambient-caps "$1" "${@:2}"
}
capabilities() {
	mkdir -m 700 "$m/closed" && (umask 077 && echo secret >"$m/closed/f")
	install -m 600 /dev/null "$m/roots"
	must_fail capable +dac_override,+dac_read_search cat "$m/closed/f"
	must_fail capable +dac_override sh -c "echo x >>$m/roots"
	must_fail capable +chown chown 1002 "$m/roots"
	must_fail capable +fowner chmod 666 "$m/roots"
	expect '600 0 0' stat -c '%a %u %s' "$m/roots"
	chown 1001 "$m/closed"
	[ $options = no_default_permissions ] ||
		must_fail setpriv --bounding-set=-dac_override,-dac_read_search \
			cat "$m/closed/f"
	expect secret cat "$m/closed/f"
	rm -r "$m/closed" "$m/roots"
}

# knocks USER: prints the results of opening the FIFO for reading and for writing, and of connecting
# to the socket
knocks() {
	python3 - "$m/fifo" "$m/socket" "$1" <<'END'
import errno, os, socket, sys
def knock(f, *args):
    try:
        f(*args)
        return "in"
    except OSError as e:
        return errno.errorcode[e.errno]
fifo, path, who = sys.argv[1:]
user, groups = {"alice": (1001, []), "bob": (1002, []),
                "carol": (1003, [1001, 2000])}[who]
os.setgroups(groups)
os.setgid(user)
os.setuid(user)
print(knock(os.open, fifo, os.O_RDONLY | os.O_NONBLOCK),
      knock(os.open, fifo, os.O_RDWR | os.O_NONBLOCK),
      knock(socket.socket(socket.AF_UNIX).connect, path))
END
}

# The kernel opens these without a request, so it must know the permissions.
special() {
	mkfifo -m 600 "$m/fifo"
	python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$m/socket"
	chown 1001:1001 "$m/fifo" "$m/socket"
	chmod 600 "$m/socket"
	expect 'in in ECONNREFUSED' knocks alice
	expect 'EACCES EACCES EACCES' knocks bob
	chmod 040 "$m/fifo"
	chmod 020 "$m/socket"
	expect 'EACCES EACCES EACCES' knocks alice
	expect 'in EACCES ECONNREFUSED' knocks carol
	setfacl -m u:1002:rw "$m/fifo" "$m/socket"
	expect 'in in ECONNREFUSED' knocks bob
	setfacl -b "$m/fifo" "$m/socket"
	chmod 000 "$m/fifo" "$m/socket"
	expect 'EACCES EACCES EACCES' knocks bob
	rm "$m/fifo" "$m/socket"
}

chmod 755 "$tmp"
m=$tmp/m
install -m 666 /dev/null "$tmp/seen"
for options in no_default_permissions cache=none cache=open \
	cache=none,entry_timeout=10,attr_timeout=10; do
	mount_at "$m" -o $options
	chmod 755 "$m"
	rights
	capabilities
	[ $options = no_default_permissions ] || special
	unmount "$m" $daemon
done
