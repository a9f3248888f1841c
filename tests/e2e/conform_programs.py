# SPDX-License-Identifier: BSD-2-Clause
# conform_programs.py DIR [CASE...]: which users may execute a program; prints a line for each
# result.
from conform import *


def run_as(who, name):
    pid = os.fork()
    if pid:
        return name_of(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    try:
        become(who)
        os.execv("./" + name, [name])
    except OSError as e:
        os._exit(e.errno)


@case
def run_who():
    """A user may run a program without being able to read it."""
    shutil.copy("/bin/true", "t")
    shutil.copy("/bin/true", "by")
    os.chmod("by", 0o111)
    with open("s", "w") as f:
        f.write("#!./by\n")
    for name in "t", "s":
        os.chown(name, OWNER, GROUP)
        for mode in 0o111, 0o711, 0o2751, 0o510, 0o701, 0o666:
            os.chmod(name, mode)
            yield "%o" % mode, [(who, as_user(who, lambda: os.close(
                os.open(name, R))), run_as(who, name)) for who in WHO]


run_cases(os.path.abspath(sys.argv[1]), sys.argv[2:])
