# SPDX-License-Identifier: BSD-2-Clause
# functions.sh - shared by the scripts here: messages and Debian packages.
# Sourced; needs bash.

# The name of the running script, for messages.
me=${0##*/}

die() {
	printf '%s: %s\n' "$me" "$*" >&2
	exit 1
}

# say_failed LOG WHAT: its end says why.
say_failed() {
	printf '%s: %s failed; %s ends:\n' "$me" "$2" "$1" >&2
	tail -n 25 "$1" | sed 's/^/    /' >&2
}

# mpich_exec: prints MPICH's mpiexec, or fails.  Where Open MPI is installed as well, Debian's
# alternatives make mpiexec Open MPI's.
mpich_exec() {
	local exe

	for exe in mpiexec.mpich mpiexec.hydra mpiexec; do
		"$exe" --version 2>/dev/null | grep -q HYDRA || continue
		command -v "$exe"
		return
	done
	return 1
}

# step TEXT: a progress line with the seconds since the start.
step() {
	printf '[%4d s] %s\n' "$SECONDS" "$*"
}

# packages_of GROUP...: the names in scripts/packages.
packages_of() {
	local want=" $* " name group reason

	while read -r name group reason; do
		case $name in ''|'#'*) continue ;; esac
		[[ $want == *" $group "* ]] && printf '%s\n' "$name"
	done <"$here/packages"
	return 0
}

# packages_missing NAME...: those that dpkg does not show as installed.
packages_missing() {
	local name status

	for name; do
		status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$name" \
			2>/dev/null) || status=
		[[ $status == ii* ]] || printf '%s\n' "$name"
	done
}

# as_root COMMAND...: directly, or through sudo.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		return 126
	fi
}

# packages_install LOG GROUP...: installs what is missing.
packages_install() {
	local log=$1 missing
	shift

	command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
		die "this is not a Debian system (no apt-get): install what" \
		    "scripts/packages lists under your system's names, then" \
		    "run again with PVFS_SKIP_PACKAGES=1"
	mapfile -t missing < <(packages_missing $(packages_of "$@"))
	[ ${#missing[@]} -gt 0 ] || return 0
	step "installing packages (${#missing[@]}): ${missing[*]}"
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
		die "needs root to install: run as root, or first run as root:" \
		    "apt-get install --no-install-recommends ${missing[*]}"
	apt_get "$log" update ||
		{ say_failed "$log" 'apt-get update'; exit 1; }
	apt_get "$log" install --no-install-recommends "${missing[@]}" ||
		{ say_failed "$log" 'apt-get install'; exit 1; }
}

apt_get() {
	local log=$1
	shift
	as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" \
		</dev/null >>"$log" 2>&1
}
