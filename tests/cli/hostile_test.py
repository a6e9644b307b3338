# SPDX-License-Identifier: MIT
"""Files that a program's file names, and names that hold any byte: what tare opens of the one, and shows of the other.

usage: hostile_test.py TARE CC EXACT(yes|no)
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import refused_by_the_engine  # noqa: E402

TARE, CC, EXACT = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3] == "yes"
ROOM = tempfile.TemporaryDirectory()
ENV = {**os.environ, "LC_ALL": "C.UTF-8", "HOME": ROOM.name, "COLUMNS": "120"}
SOURCE = """
__attribute__((noinline)) static int helper(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += i * i % 7;
	return s;
}
int main(void)
{
	return helper(100000) == 1;
}
"""


def room(name):
    return os.path.join(ROOM.name, name)


def sh(*words, status=0, **options):
    """A wait at a FIFO would have no end: the limit of time is the failure."""
    r = subprocess.run(words, **{"capture_output": True, "timeout": 100, "env": ENV, "cwd": ROOM.name, "stdin": subprocess.DEVNULL, **options})
    if status is not None:
        equal(r.returncode, status, f"exit status of {words}; {r.stderr.decode(errors='replace')[:600]}")
    return r


def need(*tools):
    if not EXACT:
        skip("the exact engine is of x86-64")
    for tool in tools:
        if not shutil.which(tool):
            skip(f"{tool} is not installed")


def built(name, source=SOURCE, *words):
    Path(room(name + ".c")).write_text(source)
    sh(CC, "-g", "-O1", name + ".c", "-o", name, *words)
    return room(name)


def functions(program, **env):
    return sh(TARE, "stat", "--profile", "-e", "instructions:u", "--", program, env={**ENV, **env}).stderr.decode()


@test
def a_debug_file_is_a_regular_file():
    """By its link's checksum, or by its build id; a FIFO, a folder or another file of that name is none."""
    need("objcopy")
    whole = built("linked")
    for keeps_id in (False, True):
        sh("objcopy", "--only-keep-debug", whole, "linked.debug")
        sh("objcopy", "--strip-all", *([] if keeps_id else ["--remove-section", ".note.gnu.build-id"]), "--add-gnu-debuglink=linked.debug", whole, "stripped")
        true("helper" in functions(room("stripped")), "the debug file is found")
        debug = Path(room("linked.debug"))
        good = debug.read_bytes()
        debug.write_bytes(good[:-1] + bytes([good[-1] ^ 1]) if not keeps_id else Path("/proc/self/exe").read_bytes())
        true("helper" not in functions(room("stripped")), "a file of other contents")
        debug.unlink()
        os.mkfifo(debug)
        true("helper" not in functions(room("stripped")), "a FIFO")
        debug.unlink()
        debug.mkdir()
        true("helper" not in functions(room("stripped")), "a folder")
        debug.rmdir()


ALT = """
	.section .debug_abbrev, "", @progbits
	.uleb128 1, 0x11; .byte 0; .uleb128 0x03, 0x1f21, 0x11, 0x01, 0x12, 0x07, 0, 0; .byte 0
	.section .debug_info, "", @progbits
	.4byte 2f - 1f
1:	.2byte 4; .4byte 0; .byte 8
	.uleb128 1; .4byte 0; .8byte main; .8byte 64
2:
	.section .gnu_debugaltlink, "", @progbits
	.asciz "common"
	.fill 20, 1, 0x5a
	.section .note.GNU-stack, "", @progbits
"""


@test
def a_common_debug_file_is_a_regular_file():
    """dwz(1) puts what debug files share into one; the name of a unit is there."""
    need()
    Path(room("alt.s")).write_text(ALT)
    Path(room("alt.c")).write_text(SOURCE)
    sh(CC, "-O1", "alt.c", "alt.s", "-o", "alt")
    true("main" in functions(room("alt")), "without the file")
    os.mkfifo(room("common"))
    for by in ("function", "line"):
        sh(TARE, "stat", f"--profile={by}", "-e", "instructions:u", "--", room("alt"))
    os.unlink(room("common"))


# Commands that read a file that a repository or another user may have replaced; FILE is its name.
READERS = (["compare", "FILE", "FILE"], ["compare", "FILE", "tare.json"], ["gate", "run", "--config", "FILE"], ["gate", "run", "--baseline", "FILE"], ["history", "add", "FILE"],
           ["history", "import", "FILE"], ["windows", "diff", "FILE", "tare.json"])


@test
def files_that_are_none():
    """tare does not wait for a writer of a FIFO, and does not read a device."""
    folder = Path(room("readers"))
    folder.mkdir()
    subprocess.run(["git", "init", "-q", folder], check=True, env=ENV)
    (folder / "tare.json").write_text('{"benchmarks": {"a": {"command": ["true"]}}}')
    for name, make in (("fifo", os.mkfifo), ("link", lambda f: os.symlink("fifo", f)), ("zero", lambda f: os.symlink("/dev/zero", f)),
                       ("tty", lambda f: os.symlink("/dev/ptmx", f))):
        make(folder / name)
        for words in READERS:
            r = sh(TARE, *(name if w == "FILE" else w for w in words), status=None, cwd=folder)
            true(r.returncode == 125 and b"regular file" in r.stderr, f"{words}, {name}: {r}")


@test
def no_server_is_asked():
    """DEBUGINFOD_URLS alone does nothing: tare does not connect."""
    need("objcopy")
    whole = built("asked")
    sh("objcopy", "--strip-all", whole, "asked")
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        functions(room("asked"), DEBUGINFOD_URLS=url)
        server.setblocking(False)
        try:
            server.accept()
            raise AssertionError("somebody connected")
        except BlockingIOError:
            pass
    r = sh(TARE, "stat", "--debuginfod", "--profile", "--", room("asked"), status=125, env={k: v for k, v in ENV.items() if k != "DEBUGINFOD_URLS"})
    true(b"DEBUGINFOD_URLS" in r.stderr, r.stderr)


@test
def a_program_does_not_choose_whose_files_are_shown():
    """A source of neither the program's owner nor, for one's own programs, the user: not in text, JSON or page, but when it is asked for."""
    need()
    if os.geteuid() == 0:
        secret = Path(room("secret"))
        secret.write_text("hidden_words_of_root\n" * 40)
        secret.chmod(0o600)
        source, word = str(secret), "hidden_words_of_root"
    else:
        source, word = "/etc/passwd", "root:"
    program = built("liar", f'#line 1 "{source}"\n' + SOURCE)
    own = built("honest")
    if os.geteuid() == 0:
        os.chown(program, 1234, 1234)
        Path(ROOM.name).chmod(0o755)
    for more, shown in (([], False), (["--any-source"], True)):
        for form in (["--format", "text"], ["--format", "json"], ["--html", room("page.html")]):
            r = sh(TARE, "annotate", *more, *form, "helper", "--", program, status=None)
            if r.returncode == 125 and b"page" in r.stderr:
                continue
            equal(r.returncode, 0, r.stderr)
            text = Path(room("page.html")).read_text() if "--html" in form else r.stdout.decode()
            if "--html" in form and not shown:
                true(word not in text, "in the page")
            elif "--html" not in form:
                equal(word in text, shown, f"{more} {form}: {text}")
                equal("not shown" in text or "refused_sources" in text and f'"{source}"' in text.split("refused_sources")[1], not shown, "is told")
    true("i * i % 7" in sh(TARE, "annotate", "helper", "--", own).stdout.decode(), "one's own")
    os.mkfifo(room("pipe.c"))
    piped = built("piped", f'#line 1 "{room("pipe.c")}"\n' + SOURCE)
    sh(TARE, "annotate", "helper", "--", piped)


# Answers are late: who asked is gone by then.
LATE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <unistd.h>
int ioctl(int fd, unsigned long what, ...)
{
	int (*next)(int, unsigned long, void *) = dlsym(RTLD_NEXT, "ioctl");
	__builtin_va_list ap;
	void *arg;

	__builtin_va_start(ap, what);
	arg = __builtin_va_arg(ap, void *);
	__builtin_va_end(ap);
	int ret = next(fd, what, arg);
	if (what == SECCOMP_IOCTL_NOTIF_RECV)
		usleep(500000);
	return ret;
}
"""
# A process asks for random bytes and is killed; another gets its number, with memory at the same place.
REUSE = """
#define _GNU_SOURCE
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned char room[64];
int main(void)
{
	int status;
	pid_t first = fork(), set[1] = { first };
	struct clone_args how = { .exit_signal = SIGCHLD, .set_tid = (uintptr_t)set, .set_tid_size = 1 };

	if (first == 0) {
		syscall(SYS_getrandom, room, sizeof(room), 0);
		_exit(0);
	}
	usleep(200000);
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	pid_t second = (pid_t)syscall(SYS_clone3, &how, sizeof(how));
	if (second == 0) {
		static const unsigned char zero[64];

		usleep(1000000);
		_exit(memcmp(room, zero, 64) != 0);
	}
	if (second != first)
		return 77;
	waitpid(second, &status, 0);
	puts(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "untouched" : "written to");
	return 0;
}
"""


@test
def an_answer_is_written_to_nobody_else():
    """The process that asked for random bytes is gone, and its number another's: that one's memory stays as it is."""
    if os.geteuid() or not EXACT:
        skip("only root chooses the number of a process")
    shim, program = built("late.so", LATE, "-shared", "-fPIC", "-ldl"), built("reuse", REUSE)
    r = sh(TARE, "run", "--deterministic=random", "--", program, status=None, env={**ENV, "LD_PRELOAD": shim})
    if r.returncode == 77:
        skip("the number of a process cannot be chosen here")
    equal((r.returncode, r.stdout), (0, b"untouched\n"), r.stderr.decode())


# Overwrites what the exact engine tells tare beside the counts: src/exact/shared_state.h.
FORGE = """
#include <string.h>
#include <unistd.h>
#include "exact/shared_state.h"
int main(int argc, char **argv)
{
	struct shared_state *b = (struct shared_state *)0x559000000000; /* supervisor.h, shared_places */
	struct uncounted *u = b->uncounted;

	while (!strcmp(argv[1], "listed") && !b->n_uncounted)
		usleep(10000);
	if (!strcmp(argv[1], "uncounted") || !strcmp(argv[1], "listed")) {
		u->pid = 7;
		u->how = REFUSED_EXEC;
		strcpy(u->name, "forged");
		strcpy(u->reason, "forged");
		b->n_uncounted = 1;
	} else if (!strcmp(argv[1], "stops")) {
		b->stops_sent = 4294967280;
	} else if (!strcmp(argv[1], "slow")) {
		b->compared = b->stepped = 1ull << 60;
	} else if (!strcmp(argv[1], "isa")) {
		strcpy(b->isa_beyond_program, "forged");
		b->isa_beyond = 77777;
	}
	return 0;
}
"""
OVERWROTE = "a program overwrote the memory that contains its counts"


@test
def forged_remarks_are_not_shown():
    """Every command refuses overwritten counts before it prints anything else from that memory."""
    if not EXACT:
        skip("needs the exact engine")
    far = refused_by_the_engine(room("far"))
    program = built("forge", FORGE, "-I", str(Path(__file__).resolve().parents[2] / "src"))
    room_of = ("-o", room("forged.out"))
    commands = {
        "stat": ("stat", "--engine", "exact", "-e", "instructions:u"),
        "regions": ("regions", "--engine", "exact", "-e", "instructions:u", *room_of),
        "windows": ("windows", "--engine", "exact", "--every", "500", "-e", "instructions:u", *room_of),
        "record": ("record", "--engine", "exact", "-c", "500", "-e", "instructions:u", *room_of),
        "compare": ("compare", "-r", "0"),
    }
    for name, words in commands.items():
        for forged in ("uncounted", "listed", "stops", "slow", "isa"):
            side = ("sh", "-c", f"{far}; {program} listed") if forged == "listed" else (program, forged)
            after = (":::", *side) if name == "compare" else ()
            r = sh(TARE, *words, "--", *side, *after, status=None)
            said = (r.stdout + r.stderr).decode()
            true(r.returncode in (0, 125), f"{name} {forged}: {r.returncode} {said}")
            for word in ("forged,", "forged:", "forged executed", "4,294,967,280", "4294967280", "1,152,921", "1152921", "77777", "extension ?"):
                true(word not in said, f"{name} {forged}: {said}")
            if forged in ("uncounted", "listed"):
                true(r.returncode == 125 and OVERWROTE in " ".join(said.split()), f"{name} {forged}: {r.returncode} {said}")


@test
def a_result_is_on_the_disk_before_it_replaces_another():
    """The old file stays where the new one cannot be put on the disk: fsync(2) fails, and says so."""
    need("strace")
    if sh("strace", "-o", "/dev/null", "true", status=None).returncode:
        skip("strace does not work here")
    program, kept = built("lasting"), Path(room("kept.txt"))
    kept.write_text("old")
    annotate = (TARE, "annotate", "-o", str(kept), "helper", "--", program)
    r = sh("strace", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:error=ENOSPC", *annotate, status=125)
    true(b"No space left on device" in r.stderr, r.stderr)
    equal(kept.read_text(), "old", "what was there")
    sh(*annotate)
    true("helper" in kept.read_text(), "and where there is room it is replaced")


if __name__ == "__main__":
    main()
