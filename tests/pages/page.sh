# SPDX-License-Identifier: BSD-2-Clause
# page.sh - executes the commands of a page and checks their output.  A block that is indented by
# four spaces contains commands and expected output:
#
#     HOST# COMMAND           root executes COMMAND on HOST
#     joe@HOST$ COMMAND       the user joe executes COMMAND on HOST
#
# With all as HOST the command is executed on every host in turn.  The lines after a command are
# lines that its output must contain, in this order; "..." stands for any text.  After a command
# with <<END follow the lines of its input, up to END.  A page with this line continues another
# one:
#
#     <!-- begins: OTHER.md, HEADING -->
#
# Then the commands of OTHER.md that stand before HEADING are executed first.

# page_steps PAGE: prints the steps of a page.  A step begins with a line "LINE HOST USER", the
# lines of its command follow, and then the lines of expected output, each after a \v.  A line \f
# ends the step.
page_steps() {
	awk '
	function close_step() { if (open) print "\f"; open = 0 }
	/^```/ && !heredoc { close_step(); fenced = !fenced }
	fenced { next }
	!/^    / { if (!heredoc) { close_step(); next } }
	{ line = substr($0, 5 + inner) }
	heredoc { print line; if (line == heredoc) heredoc = ""; next }
	match($0, /^    (   )?([a-z]+@)?[a-z0-9]+[#$] /) {
		close_step()
		inner = /^       / ? 3 : 0 # in a list
		line = substr($0, 5 + inner); RLENGTH -= 4 + inner
		who = substr(line, 1, RLENGTH - 2); user = "root"
		if ((i = index(who, "@"))) { user = substr(who, 1, i - 1); who = substr(who, i + 1) }
		line = substr(line, RLENGTH + 1)
		print NR, who, user; print line; open = 1
		if (match(line, /<<[A-Z]+/)) heredoc = substr(line, RSTART + 2, RLENGTH - 2)
		more = line ~ /\\$/
		next
	}
	open && more { print line; more = line ~ /\\$/; next }
	open { print "\v" line; next }
	line ~ /[^ ]/ { print NR, "nowhere", "nobody"; print line; print "\f" }
	END { close_step() }' "$1"
}

# page_says OUTPUT EXPECTED...: checks that the file OUTPUT contains the expected lines in this
# order.  Otherwise prints the first one that is missing.
page_says() {
	local out=$1 want line ok
	shift

	exec 8<"$out"
	for want; do
		want=${want//\\/\\\\}
		want=${want//[/\\[}
		want=${want//\*/\\*}
		want=${want//\?/\\?}
		want=${want//.../*}
		ok=
		while [ -z "$ok" ] && { IFS= read -r line <&8 || [ -n "$line" ]; }; do
			# blanks do not count
			[[ $(echo $line) == $(set -f; echo $want) ]] && ok=1
		done
		[ -n "$ok" ] || { echo "$want"; return 1; }
	done
}

# page_step LINE HOST USER COMMAND EXPECTED...: executes one step and checks its output.
page_step() {
	local line=$1 host=$2 user=$3 command=$4 lacks since=$SECONDS
	local -a where=("$host")
	shift 4

	[ "$host" = all ] && where=("${names[@]}")
	for host in "${where[@]}"; do
		[ -n "${pid[$host]:-}" ] || fail "line $line: there is no host $host"
		at "$host" "$user" "$command" >"$tmp/out" 2>&1 </dev/null || {
			local status=$?
			tail -n 30 "$tmp/out"
			fail "line $line, $user@$host: exit $status: $command"
		}
		lacks=$(page_says "$tmp/out" "$@") || {
			tail -n 60 "$tmp/out"
			fail "line $line, $user@$host: '$command' does not say '$lacks'"
		}
	done
	echo "line $line ($((SECONDS - since)) s) $user@${where[*]}: ${command%%$'\n'*}"
}

# page_begins PAGE: prints the steps of the other page that PAGE continues, if it continues one.
page_begins() {
	local other heading

	IFS=, read -r other heading < <(sed -n 's/^<!-- begins: \(.*\) -->$/\1/p' "$1")
	[ -n "$other" ] || return 0
	other=$(dirname "$1")/$other
	grep -qx "##$heading" "$other" || fail "$other has no heading '$heading'"
	page_steps <(sed "/^##$heading\$/,\$d" "$other")
}

page_run() {
	local head line command expected steps=0

	page_begins "$1" >"$tmp/steps"
	page_steps "$1" >>"$tmp/steps"
	while read -r -u 7 line host user; do
		command= expected=()
		while IFS= read -r -u 7 head && [ "$head" != $'\f' ]; do
			case $head in
			$'\v'*)	expected+=("${head#?}") ;;
			*)	command+=${command:+$'\n'}$head ;;
			esac
		done
		page_step "$line" "$host" "$user" "$command" "${expected[@]}"
		steps=$((steps + 1))
	done 7<"$tmp/steps"
	[ $steps -gt 0 ] || fail "$1 has no steps"
	echo "pages: passed, $steps steps"
}
