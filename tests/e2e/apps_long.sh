# SPDX-License-Identifier: BSD-2-Clause
# apps_long.sh - like apps.sh, with programs that take longer; sourced after it.
for tool in meson ninja; do requires tool $tool; done
[ -x /usr/bin/python3 ] || skip "needs python3 of Debian"

# Builds a wheel and installs it into an environment, without a network.
app_pip() {
	python3 - <<-'END'
		import zipfile
		info = "greet-1.0.dist-info/"
		with zipfile.ZipFile("greet-1.0-py3-none-any.whl", "w") as z:
		    z.writestr("greet.py", "def main(): print('greetings')\n")
		    z.writestr(info + "METADATA", "Metadata-Version: 2.1\n"
		               "Name: greet\nVersion: 1.0\n")
		    z.writestr(info + "WHEEL", "Wheel-Version: 1.0\n"
		               "Root-Is-Purelib: true\nTag: py3-none-any\n")
		    z.writestr(info + "entry_points.txt",
		               "[console_scripts]\ngreet = greet:main\n")
		    z.writestr(info + "RECORD", "")
	END
	/usr/bin/python3 -m venv env &&
		env/bin/pip install -q --no-index --no-cache-dir \
			--disable-pip-version-check ./greet-1.0-py3-none-any.whl &&
		env/bin/greet && env/bin/pip list --format=freeze
	env/bin/pip uninstall -q -y greet && ls env/bin
}

# part_source FOLDER: two rooms of this project as a library with its links, and a program that uses
# it.
part_source() {
	mkdir -p "$1/common" && cp -a "$top"/common/{util,wire} "$1/common" &&
		cat >"$1/meson.build" <<-'END' && cat >"$1/part.c" <<-'END2'
		project('part', 'c', default_options: 'c_std=gnu11')
		add_project_arguments('-D_GNU_SOURCE', '-I' + meson.project_source_root(),
		  language: 'c')
		threads = dependency('threads')
		subdir('common/util')
		subdir('common/wire')
		part = shared_library('part', link_whole: [util_lib, wire_lib],
		  version: '1.0.0', dependencies: wire_dep)
		executable('part-port', 'part.c', link_with: part)
	END
		#include <stdio.h>
		#include "common/util/addr.h"
		int main(int argc, char **argv)
		{
			struct addr addr;
			return addr_parse(argv[argc - 1], 0, &addr) || !printf("%d\n", addr.port);
		}
	END2
}
whole_source() {
	mkdir "$1" && (cd "$top" && tar cf - client common conf meson* mgr romio-adio \
		scripts server tests) | tar xf - -C "$1"
}

# The program and the library work in the folder where they were built.
part_works() { "$1/part-port" tcp://here:3000 | grep -x 3000; }
whole_works() {
	pvfs-cp src/meson.build "/pvfs/${PWD##*/}" &&
		"$1/client/tools/pvfs-cat" "/pvfs/${PWD##*/}" | cmp - src/meson.build
}

# build FOLDER: builds $LONG_SOURCE (part or whole) of this project there. The result works, its
# objects are the same everywhere, and a second run builds nothing.
build() {
	local kind=${LONG_SOURCE:-part} target=part-port

	[ $kind = part ] || target=client/tools/pvfs-cat
	"${kind}_source" src
	CC=gcc CCACHE_DISABLE=1 meson setup --buildtype=plain "$1" src >setup.log ||
		cat setup.log
	CCACHE_DISABLE=1 ninja -C "$1" -j4 $target >build.log || cat build.log
	ninja -C "$1" $target
	(cd "$1" && find . -name '*.o' | sort | xargs sha256sum) >objects &&
		wc -l <objects && cat objects
	"${kind}_works" "$1" && echo it works
}
app_build_inside() { build src/build; }
app_build_beside() { build beside; }
