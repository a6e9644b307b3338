# SPDX-License-Identifier: MIT
"""What becomes of signals to tare while a command runs: the command gets each once, and decides. None of it is a matter of time:
what was not to be sent would have been sent before something that is waited for.

usage: signals_test.py TARE PROGRAM     (tests/programs/regions)
"""
import contextlib
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import children  # noqa: E402

TARE, PROGRAM = (os.path.abspath(p) for p in sys.argv[1:3])
ROOM = tempfile.TemporaryDirectory()
# Tells each signal that it gets, and ends when its input does. By a pipe: one just before a read(2) would wait for its end.
TELLS = """
import os, select, signal
got, tell = os.pipe()
os.set_blocking(tell, False)
signal.set_wakeup_fd(tell)
for n in (1, 2, 3, 15):
    signal.signal(n, lambda n, _: None)
os.write(1, b'ready\\n')
while got in select.select([0, got], [], [])[0]:
    os.write(1, b'%d\\n' % os.read(got, 1)[0])
os._exit(7)
"""
EXACT = not subprocess.run([TARE, "stat", "--engine", "exact", "-e", "instructions:u", "--", "true"], capture_output=True).returncode
WAYS = [["stat", "-e", "page-faults"], ["record", "-q", "-o", "r", "-e", "cpu-clock"], ["regions", "-q", "-o", "g"], ["windows", "-e", "task-clock", "--every", "100ms"]]
WAYS += [["stat", "--engine", "exact", "-e", "instructions:u"], ["windows", "--engine", "exact", "-e", "instructions:u", "--every", "1M"], ["run"]] * EXACT


class Told:
    def __init__(self, p, terminal):
        self.p, self.terminal = p, terminal

    def line(self, wanted=None):
        true(select.select([self.p.stdout], [], [], 60)[0], f"waited in vain for {wanted}: {self.p.args[:8]}")
        got = b""
        while not got.endswith(b"\n"):
            more = os.read(self.p.stdout.fileno(), 1)
            true(more, f"it ended before {wanted}")
            got += more
        if wanted is not None:
            equal(got.decode().strip(), str(wanted))
        return got.decode().strip()

    def ends(self, more=b""):
        """By itself, with its own status, and with nothing more to tell than these."""
        self.p.stdin.close()
        equal(self.p.stdout.read().strip(more), b"", "signals that nobody sent")
        equal(self.p.wait(60), 7, f"the command's own status: {self.p.args[:9]}")


def interrupt(terminal):
    """Type ^C, and wait for its echo, which comes when every process of the group has its signal: another thread of the kernel sends them."""
    os.write(terminal, b"\3")
    shown = b""
    while not shown.endswith(b"^C"):
        true(select.select([terminal], [], [], 60)[0], f"waited in vain for the echo: {shown}")
        shown += os.read(terminal, 1)


def settle(pid):
    """Until it, and then each that it has started, has done what signals make it do: it sleeps, and none is pending."""
    while not re.search(r"^State:\tS.*^SigPnd:\t0+$\n^ShdPnd:\t0+$", Path(f"/proc/{pid}/status").read_text(), re.S | re.M):
        time.sleep(0.001)
    for child in children(pid):
        settle(child)


@contextlib.contextmanager
def told(*words, before=(), terminal=False):
    """A command under tare, in a session of its own, on a terminal or on none."""
    ours, theirs = pty.openpty() if terminal else (None, None)

    def on_it():
        for n in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):  # a shell's background job ignores some
            signal.signal(n, signal.SIG_DFL)
        if terminal:
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    p = subprocess.Popen([*before, TARE, *words, "--", sys.executable, "-S", "-c", TELLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, cwd=ROOM.name, start_new_session=True, preexec_fn=on_it, bufsize=0)
    there = Told(p, ours)
    try:
        there.line("ready")
        yield there
    finally:
        if p.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, signal.SIGKILL)
            p.wait()
        p.stdout.close()
        with contextlib.suppress(OSError):
            p.stdin.close()
        if terminal:
            os.close(theirs)  # open until here: without it the terminal echoes nothing
        if there.terminal is not None:
            os.close(there.terminal)


@test
def each_sent_to_tare_is_handed_on():
    for way in WAYS:
        with told(*way) as command:
            for n in (15, 15, 15, 2, 2, 1, 3, 1):
                command.p.send_signal(n)
                command.line(n)
            command.ends()


@test
def what_a_terminal_sends_comes_once():
    """tare, stopped meanwhile, sees it once the command has told it: a copy of its own would be told, before what is sent then."""
    for way in WAYS:
        with told(*way, terminal=True) as command:
            for key, n in ((b"\3", 2), (b"\3", 2), (b"\x1c", 3)):
                tare = [command.p.pid]
                for p in tare:  # and those of its group between it and the command
                    tare += [c for c in children(p) if children(c) and os.getpgid(c) == command.p.pid]
                for p in tare:
                    os.kill(p, signal.SIGSTOP)
                os.write(command.terminal, key)
                command.line(n)
                for p in tare:
                    os.kill(p, signal.SIGCONT)
                command.p.send_signal(15)
                command.line(15)
            command.ends()


@test
def a_terminal_that_closes_is_told_once():
    """To its session's leader alone, which tare is here."""
    for way in WAYS:
        with told(*way, terminal=True) as command:
            os.close(command.terminal)
            command.terminal = None
            command.line(1)
            command.p.send_signal(15)
            command.line(15)
            command.ends()


@test
def what_is_doubled_on_its_way_ends_nothing():
    """By timeout --foreground, which hands on what the terminal sent to all; and by who sends to the group."""
    if not shutil.which("timeout"):
        skip("there is no timeout")
    for way in WAYS:
        with told(*way, terminal=True, before=("timeout", "--foreground", "100")) as command:
            for _ in range(3):
                interrupt(command.terminal)
                command.line(2)
                os.killpg(command.p.pid, signal.SIGINT)
                command.line(2)
                settle(command.p.pid)
            command.ends(more=b"2\n")  # any number of copies


@test
def a_signal_that_comes_last_is_not_the_status():
    """As the second copy of one: the command has ended, and tare that waits for a pid namespace takes its folder away."""
    words = [TARE, "run", "--deterministic=cwd", "--", "sh", "-c", "exit 3"]
    r = subprocess.run(words, capture_output=True, text=True, cwd=ROOM.name)
    if "not fixed: cwd" in r.stderr:
        skip(r.stderr.strip())
    if not shutil.which("strace") or subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True).returncode:
        skip("strace does not work here")
    r = subprocess.run(["strace", "-qq", "-o", os.devnull, "-e", "trace=rmdir", "-e", "inject=rmdir:signal=SIGTERM", *words], capture_output=True, text=True, cwd=ROOM.name)
    equal(r.returncode, 3, r.stderr)


@test
def at_the_third_it_waits_no_longer():
    """For a command that it has asked to end itself, as what it was to count is gone; each of the three is handed on."""
    for way in WAYS[:2]:
        other = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        with told(*way, "-p", str(other.pid)) as command:
            other.communicate()
            command.line(15)
            for _ in range(3):
                true(command.p.poll() is None, "it waits")
                command.p.send_signal(2)
                command.line(2)
            command.p.wait(60)
            command.p.stdin.close()
            equal(command.p.stdout.read(), b"", "the command is left, and ends by itself")


def descendants(pid):
    for child in children(pid):
        yield child
        yield from descendants(child)


def is_stopped(pid):
    with contextlib.suppress(OSError):
        return "\nState:\tT" in Path(f"/proc/{pid}/status").read_text()
    return False


@test
def a_stopped_command_gets_it():
    """It continues, as the signal would wait in vain otherwise."""
    for way in [*WAYS, ["stat", "-r", "2", "-e", "page-faults"]]:
        p = subprocess.Popen([TARE, *way, "--", "sh", "-c", "kill -STOP $$; exit 3"], stderr=subprocess.DEVNULL,
                             cwd=ROOM.name, start_new_session=True)
        try:
            while not any(is_stopped(c) for c in descendants(p.pid)):
                true(p.poll() is None, f"it ended early: {way}")
                time.sleep(0.001)
            p.terminate()
            equal(p.wait(60), 128 + 15, str(way))
        finally:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()



def supervisor_of(pid):
    """The exact engine's: a child of tare in a process group of its own."""
    for child in children(pid):
        with contextlib.suppress(OSError):
            if os.getpgid(child) == child and Path(f"/proc/{child}/comm").read_text() == "tare\n":
                return child
    return None


@test
def a_stopped_supervisor_is_continued():
    """Only it reports the end of the command: tare would wait for it in vain."""
    if not EXACT:
        skip("the exact engine is of x86-64")
    for way in (["stat", "-e", "exact/instructions/"], ["record", "--engine", "exact", "-o", os.devnull], ["windows", "--engine", "exact", "-o", os.devnull]):
        p = subprocess.Popen([TARE, *way, "--", "sh", "-c", "kill -STOP $PPID; kill -STOP $$"], stderr=subprocess.PIPE, cwd=ROOM.name, start_new_session=True)
        try:
            while not (supervisor_of(p.pid) and is_stopped(supervisor_of(p.pid)) and any(is_stopped(c) for c in children(supervisor_of(p.pid)))):
                true(p.poll() is None, f"it ended early: {way}")
                time.sleep(0.001)
            p.terminate()
            equal(p.wait(60), 128 + 15, str(way))
            true(b"lost" not in p.stderr.read(), "the counts are there")
        finally:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()


@test
def a_test_stops_its_parent():
    """tare bench ends with a stopped supervisor, and leaves no process."""
    if not EXACT:
        skip("the exact engine is of x86-64")
    compiler = shutil.which("cc") or skip("no compiler")
    library = Path(ROOM.name, "stops.so")
    code = "#include <signal.h>\n#include <unistd.h>\n__attribute__((constructor)) static void stop(void) { kill(getppid(), SIGSTOP); }\nvolatile int x; void execute_test(void) { x++; }\n"
    subprocess.run([compiler, "-shared", "-fPIC", "-xc", "-o", library, "-"], input=code.encode(), check=True)
    p = subprocess.Popen([TARE, "bench", "--engine", "exact", library], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=ROOM.name, start_new_session=True)
    try:
        while not (supervisor_of(p.pid) and is_stopped(supervisor_of(p.pid))):
            true(p.poll() is None, f"it ended early: {p.returncode}")
            time.sleep(0.001)
        all_of_it = [supervisor_of(p.pid), *children(supervisor_of(p.pid))]
        p.terminate()
        equal(p.wait(60), 128 + 15, "its status")
        equal([q for q in all_of_it if Path(f"/proc/{q}").exists()], [], "left")
    finally:
        if p.poll() is None:
            for q in [supervisor_of(p.pid), p.pid]:
                if q:
                    os.kill(q, signal.SIGKILL)
            p.wait()


# Has the FIFO of its first word open, and works until the second is there.
ENDS = "exec 3>$0; while [ ! -e $1 ]; do :; done"


def flooded(words, room):
    """The files that are there after SIGTERMs without a pause, from the end of the command on, when tare finishes its file."""
    ended, go = room / "ended", room / "go"
    os.mkfifo(ended)
    p = subprocess.Popen([TARE, *words, "-o", room / "f", "--", "sh", "-c", ENDS, ended, go], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with open(ended, "rb") as end:
            while not any(f.stat().st_size > 5000 for f in room.glob("f.part")):
                true(p.poll() is None, f"it ended early: {words}")
                time.sleep(0.001)
            go.touch()
            equal(end.read(), b"")
        while p.poll() is None:
            p.terminate()
    finally:
        p.kill()
        p.wait()
    return sorted(f.name for f in room.iterdir() if f not in (ended, go))


@test
def a_recording_is_whole_or_gone():
    """At whatever moment of its last steps SIGTERM comes."""
    ways = [["record", "-q", "-e", "page-faults:u", "-e", "cpu-clock:u", "-F", "2000"]] + [["record", "-q", "--engine", "exact", "-e", "instructions:u", "-c", "200"]] * EXACT
    for way in ways:
        for _ in range(5):
            with tempfile.TemporaryDirectory(dir=ROOM.name) as room:
                room = Path(room)
                left = flooded(way, room)
                true(left in ([], ["f"]), f"{way}: {left}")
                if left:
                    equal(subprocess.run([TARE, "report", room / "f"], capture_output=True).returncode, 0, f"{way}: a whole one")


WRITE = {"x86_64": 1, "aarch64": 64}


@test
def regions_have_their_name_before_a_signal_ends_tare():
    """It comes while tare reports what it recorded, to a pipe without room."""
    with tempfile.TemporaryDirectory(dir=ROOM.name) as room:
        says, to = os.pipe()
        os.set_blocking(to, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(to, bytes(4096))
        os.set_blocking(to, True)
        p = subprocess.Popen([TARE, "regions", "-e", "none", "-o", "f", "--", "sh", "-c", '$0 loop 300 1 2>&1 >/dev/null', PROGRAM],
                             cwd=room, stdout=subprocess.DEVNULL, stderr=to)
        os.close(to)
        with open(says, "rb") as told:
            while Path(f"/proc/{p.pid}/syscall").read_text().split()[:2] != [str(WRITE[os.uname().machine]), "0x2"]:
                true(p.poll() is None, "it ended early")
                time.sleep(0.001)
            p.terminate()
            told.read()
        equal(p.wait(60), -15)
        equal(os.listdir(room), ["f"])
        equal(subprocess.run([TARE, "summarize", Path(room, "f")], capture_output=True).returncode, 0, "a whole one")


main()
