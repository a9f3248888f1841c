# SPDX-License-Identifier: BSD-2-Clause
# apps_long.sh - like apps.sh, which it is sourced after: what takes longer.
for tool in meson ninja; do requires tool $tool; done
[ -x /usr/bin/python3 ] || skip "needs python3 of Debian"

# A wheel that is made here goes into an environment, without a network.
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

# build FOLDER: a part of this project there; what was built works, as its objects
# are the same everywhere, and nothing is to be built again.
build() {
	mkdir src && (cd "$top" && tar cf - client common conf meson* mgr romio-adio \
		scripts server tests) | tar xf - -C src
	CC=gcc CCACHE_DISABLE=1 meson setup --buildtype=plain "$1" src >setup.log ||
		cat setup.log
	CCACHE_DISABLE=1 ninja -C "$1" -j4 client/tools/pvfs-cat >build.log ||
		cat build.log
	ninja -C "$1" client/tools/pvfs-cat
	(cd "$1" && find . -name '*.o' | sort | xargs sha256sum) >objects &&
		wc -l <objects && cat objects
	pvfs-cp src/meson.build "/pvfs/${PWD##*/}" &&
		"$1/client/tools/pvfs-cat" "/pvfs/${PWD##*/}" | cmp - src/meson.build &&
		echo it works
}
app_build_inside() { build src/build; }
app_build_beside() { build beside; }
