#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The reply to a create is lost with its connection, and the client repeats the create. It gets the
# same file with a valid capability. Meanwhile the manager, which does not store capabilities, was
# restarted, or the keys were changed.
. "$(dirname "$0")/functions.sh"
. "$e2e/capping.sh"
requires root

start_pvfs -n 2 --transport pvfs --set filesystem.auth=key --set filesystem.key_user=root
sed -i "s|transport=[a-z]*|transport=tcp,auth=key,key=$state/key|" "$state/pvfstab"
export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
expect ok pvio write /pvfs/one 0 100000 1
bare_begins 1
# over local and over tcp
for who in a e; do says ok open $who /one r; done

mgr_again() { must cluster kill-mgr && must cluster start-mgr {to}>&- {from}<&-; }
files=0
lose() { says ok lose "$1" /lost.$((++files)); }
found() {
	says ok found "$1"
	says ok write "$1" "$1"
}
for who in a e; do
	lose $who
	found $who
done

# ---- a restarted manager ----

lose a
lose e
mgr_again
found a
found e
says EKEYREJECTED write a e
# the reply to its own first create was lost, too
lose a
found a

# ---- keys: whose old one is gone comes back over local alone ----

new_key() { # SERVER...: there is another key, and these have read it
	od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n' >"$state/key"
	reload "$@"
}
lose a
new_key 0 1 mgr
found a

# ---- both ----

lose a
must cluster kill-mgr
new_key 0 1
must cluster start-mgr {to}>&- {from}<&-
found a

# ---- a manager that hands out none any more ----

lose a
must cluster kill-mgr
sed -i 's/^auth = key/&\ncapabilities = off/' "$state/pvfs.conf"
must cluster start-mgr {to}>&- {from}<&-
says none found a
bare_ends
expect $files eval 'pvfs-ls /pvfs | grep -c lost'
