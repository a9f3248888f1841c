#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# POSIX permissions by user, group and supplementary groups: the manager checks them against the
# identity that a session sent at its start.
. "$(dirname "$0")/functions.sh"

requires root
requires tool setpriv
start_pvfs -n 2
chmod 755 "$state"

public pvio
alice() { as_user 1001 1001 '' "$@"; }
bob() { as_user 1002 1002 '' "$@"; }
carol() { as_user 1003 1003 1001 "$@"; }	# in alice's group

expect EACCES alice pvio mkdir /pvfs/mine
expect ok pvio mkdir /pvfs/pub
expect ok pvio chmod 1777 /pvfs/pub
expect ok alice pvio mkdir /pvfs/pub/a
expect ok alice pvio write /pvfs/pub/a/f 0 100000 1
expect '40755 2 1001 1001' \
	bash -c "pvio stat /pvfs/pub/a | cut -d' ' -f1-4 | head -n 1"

# files
expect ok alice pvio chmod 640 /pvfs/pub/a/f
expect EACCES bob pvio read /pvfs/pub/a/f
expect ok carol pvio read /pvfs/pub/a/f
expect EACCES carol pvio openw /pvfs/pub/a/f
expect EACCES bob pvio truncate /pvfs/pub/a/f 0
expect EACCES carol pvio truncate /pvfs/pub/a/f 0
expect ok alice pvio check /pvfs/pub/a/f 0 100000 1
expect ok alice pvio access /pvfs/pub/a/f 6
expect EACCES carol pvio access /pvfs/pub/a/f 2
expect ok carol pvio access /pvfs/pub/a/f 4
expect EPERM bob pvio chmod 777 /pvfs/pub/a/f
expect EPERM bob pvio utime /pvfs/pub/a/f 5
expect EPERM alice pvio chown 1002 1001 /pvfs/pub/a/f
expect ok carol pvio write /pvfs/pub/c 0 10 1
expect ok carol pvio chown 1003 1001 /pvfs/pub/c
expect EPERM carol pvio chown 1003 1002 /pvfs/pub/c

# directories: w permits changes, x passage, r lists
expect EACCES bob pvio creat /pvfs/pub/a/new
expect EACCES bob pvio unlink /pvfs/pub/a/f
expect EACCES bob pvio rename /pvfs/pub/a/f /pvfs/pub/f
expect ok alice pvio chmod 711 /pvfs/pub/a
expect EACCES bob pvio names /pvfs/pub/a
expect ok alice pvio chmod 644 /pvfs/pub/a/f
expect ok bob pvio read /pvfs/pub/a/f
expect ok alice pvio chmod 600 /pvfs/pub/a
expect EACCES alice pvio read /pvfs/pub/a/f
expect EACCES bob pvio link /pvfs/pub/a/f /pvfs/pub/l
expect ok alice pvio chmod 700 /pvfs/pub/a

# a file with read permission is in a directory without search permission: its handle cannot be
# guessed
expect ok pvio mkdir /pvfs/closed
expect ok pvio write /pvfs/closed/f 0 10 1
expect ok pvio chmod 644 /pvfs/closed/f
expect ok pvio chmod 700 /pvfs/closed
expect EACCES bob pvio read /pvfs/closed/f
expect ok bob pvio write /pvfs/pub/own 0 10 1
expect '0 ok' bob pvio count /pvfs/pub/own 3000

# the sticky bit
expect ok alice pvio write /pvfs/pub/sticky 0 10 1
expect EPERM bob pvio unlink /pvfs/pub/sticky
expect EPERM bob pvio rename /pvfs/pub/sticky /pvfs/pub/other
expect ok alice pvio unlink /pvfs/pub/sticky

# set-id bits are cleared when others write or the owner changes; set-gid directories
expect ok alice pvio creat /pvfs/pub/suid
expect ok alice pvio chmod 4755 /pvfs/pub/suid
expect ok pvio chown 1002 1002 /pvfs/pub/suid
expect 100755 bash -c "pvio stat /pvfs/pub/suid | head -n 1 | cut -d' ' -f1"
expect ok alice pvio mkdir /pvfs/pub/setgid
expect ok pvio chown 1001 1001 /pvfs/pub/setgid
expect ok pvio chmod 2777 /pvfs/pub/setgid
expect ok bob pvio creat /pvfs/pub/setgid/file
expect '1002 1001' \
	bash -c "pvio stat /pvfs/pub/setgid/file | head -n 1 | cut -d' ' -f3,4"

# root may do everything
expect ok pvio check /pvfs/pub/a/f 0 100000 1
expect ok pvio unlink /pvfs/pub/a/f
