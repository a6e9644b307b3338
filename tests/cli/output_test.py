# SPDX-License-Identifier: MIT
"""-o FILE of the commands: there whole or not at all, and what was there stays until its successor is.

usage: output_test.py TARE
"""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402
from commands import ROOM, sh  # noqa: E402
from made_accesses import Recording, source  # noqa: E402
from mmprofdata import trees, write  # noqa: E402

TARE = os.path.abspath(sys.argv[1])
os.environ.update(LC_ALL="C.UTF-8", COLUMNS="100")
HERE = Path(ROOM.name)
DATA = HERE / "in.data"
STAT = (TARE, "stat", "-e", "page-faults")
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def commands():
    """Name -> the words that write to FILE, which is put in."""
    if not DATA.exists():
        sh(TARE, "record", "-q", "-o", str(DATA), "-e", "cpu-clock:u", "-F", "5000", "--", sys.executable, "-S", "-c", "sum(range(3000000))")
    return {
        "stat": [*STAT, "-o", "FILE", "--", "true"],
        "stat json": [*STAT, "--format", "json", "-o", "FILE", "--", "true"],
        "windows": [TARE, "windows", "--mode", "poll", "-e", "page-faults", "--every", "10ms", "-o", "FILE", "--", "sleep", "0.05"],
        "report": [TARE, "report", "-o", "FILE", str(DATA)],
        "report csv": [TARE, "report", "--format", "csv", "-o", "FILE", str(DATA)],
        "folded": [TARE, "report", "--folded", "-o", "FILE", str(DATA)],
        "diff": [TARE, "report", "--diff", str(DATA), "-o", "FILE", str(DATA)],
        "export": [TARE, "export", "-f", "folded", "-o", "FILE", str(DATA)],
        "faults": [TARE, "verify", "faults", "-o", "FILE"],
    }


def run(words, file, **options):
    return sh(*[str(file) if w == "FILE" else w for w in words], **options)


def no_longer_than(most):
    """A disk that is full once a file has so many bytes; the signal that comes with it must not be needed."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def beside(folder):
    return sorted(p.name for p in Path(folder).iterdir())


@test
def whole_or_not_at_all():
    room = HERE / "whole"
    room.mkdir()
    file = room / "out"
    for name, words in commands().items():
        run(words, file, status=None)
        whole = file.read_text()
        true(len(whole) > 30, f"{name} wrote {whole}")
        file.write_text("was here\n" * 3)
        run(words, file, status=None)
        true(len(file.read_text()) > 30 and "was here" not in file.read_text(), name)
        equal(beside(room), ["out"], name)
        file.unlink()


@test
def no_room():
    room = HERE / "no-room"
    room.mkdir()
    file = room / "out"
    for name, words in commands().items():
        if name == "export":
            continue  # the limit ends it by a signal; its case is on a full disk
        r = run(words, file, status=125, preexec_fn=no_longer_than(20))
        true(f"cannot write results to {file}: File too large" in r.stderr, f"{name}: {r.stderr}")
        equal(beside(room), [], f"{name} left")
        file.write_text("was here\n")
        run(words, file, status=125, preexec_fn=no_longer_than(20))
        equal((file.read_text(), beside(room)), ("was here\n", ["out"]), name)
        file.unlink()


ON_A_FULL_DISK = r"""
tare=$1; data=$2
mount -t tmpfs -o size=8k none full || exit 77
cd full
echo was here > old; head -c 4096 /dev/zero > fill
for out in new old; do
	for how in "stat -e page-faults -o $out -- true" "stat -e page-faults -I 20 -o $out -- sleep 0.1" "report --format json -o $out $data" "export -f folded -o $out $data"; do
		[ "$out $how" != "old stat -e page-faults -I 20 -o old -- sleep 0.1" ] || continue
		"$tare" $how 2>../said; echo "$? $(grep -c "No space left" ../said) $(cat old)" *
	done
done
"$tare" stat -x, -e page-faults -I 5 -o old -- sleep 20 2>../said; echo "$? $(grep -c "No space left on device; the previous rows were written" ../said)" *
cp old ../rows
"$tare" stat -e page-faults --append -o old -- true 2>../said; echo "$? $(grep -c "No space left" ../said) $(cmp old ../rows && echo same)" *
"""


@test
def a_full_disk():
    (HERE / "full").mkdir()
    commands()
    r = sh("unshare", "-rm", "sh", "-c", ON_A_FULL_DISK, "sh", TARE, str(DATA), status=None)
    if r.returncode == 77 or "unshare failed" in r.stderr:
        skip("no file system can be mounted here")
    equal(r.stdout.splitlines(), ["125 1 was here fill old"] * 7 + ["125 1 fill old", "125 1 same fill old"], r.stderr)
    rows = (HERE / "rows").read_text()
    true(rows.endswith("\n") and len(rows) > 3000 and "was here" not in rows, rows[-200:])
    equal({len(line.split(",")) for line in rows.splitlines()[2:]}, {8}, "every row whole")


@test
def intervals_are_there_as_they_come():
    file = HERE / "rows.txt"
    file.write_text("was here\n")
    with subprocess.Popen([*STAT, "-x,", "-I", "50", "-o", str(file), "--", "sleep", "60"], stderr=subprocess.PIPE, text=True, start_new_session=True) as p:
        while "page-faults" not in file.read_text():
            true(p.poll() is None, "ended early")
        true(file.read_text().endswith("\n") and "was here" not in file.read_text(), file.read_text())
        os.killpg(p.pid, signal.SIGKILL)
    true("page-faults" in file.read_text(), "what was told is there after a kill")
    file.write_text("was here\n")
    r = sh(*STAT, "-x,", "-I", "20", "-o", str(file), "--", "sleep", "0.1", status=125, preexec_fn=no_longer_than(20))
    equal((file.read_text(), "File too large\n" in r.stderr), ("was here\n", True), r.stderr)
    r = sh(*STAT, "-x,", "-I", "20", "-o", str(file), "--", "sleep", "10", status=125, preexec_fn=no_longer_than(400))
    rows = file.read_text()
    true(rows.endswith("\n") and 250 < len(rows) <= 400 and "; the previous rows were written" in r.stderr, rows + r.stderr)
    added = rows + "more\n"
    file.write_text(added)
    sh(*STAT, "--append", "-o", str(file), "--", "true", status=125, preexec_fn=no_longer_than(450))
    equal(file.read_text(), added, "nothing is added in part")
    sh(*STAT, "--append", "-o", str(file), "--", "true")
    true(file.read_text().startswith(added) and len(file.read_text()) > len(added) + 100, "added")


@test
def nothing_measured_changes_nothing():
    file, new = HERE / "kept.txt", HERE / "none.txt"
    file.write_text("was here\n")
    for out in (file, new):
        for words in (["stat", "-o", out, "--", "./nonexistent"], ["stat", "-I", "10", "-o", out, "--", "./nonexistent"],
                      ["report", "-o", out, "nonexistent.data"], ["windows", "--mode", "poll", "-e", "page-faults", "--every", "10ms", "-o", out, "--", "./nonexistent"]):
            r = sh(TARE, *map(str, words), status=None)
            true(r.returncode in (125, 127), f"{words}: {r.returncode} {r.stderr}")
            equal((file.read_text(), new.exists()), ("was here\n", False), str(words))


@test
def links_modes_and_streams():
    room = HERE / "links"
    room.mkdir()
    real, link = room / "real", room / "link"
    link.symlink_to("real")
    for _ in range(2):  # a target that is not there yet, and one that is
        sh(*STAT, "-o", str(link), "--", "true")
        true(link.is_symlink() and "page-faults" in real.read_text(), "the link stays one")
        real.write_text("was here")
        real.chmod(0o640)
    sh(*STAT, "-o", str(link), "--", "true")
    equal((real.stat().st_mode & 0o777, "was here" in real.read_text()), (0o640, False), "the mode stays")
    long = room / ("n" * 255)
    sh(*STAT, "-o", str(long), "--", "true")
    true("page-faults" in long.read_text(), "the longest name")
    equal(beside(room), sorted(["link", "real", long.name]), "nothing else")
    for target in ("-", "/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"):
        true("page-faults" in sh(*STAT, "-o", target, "--", "true").stdout, target)
        true("page-faults" in sh(*STAT, "-I", "20", "-o", target, "--", "sleep", "0.05").stdout, target)
        both = HERE / "both.txt"
        sh("sh", "-c", f"{{ echo first; {' '.join(STAT)} -o {target} -- true; echo last; }} > {both}")
        lines = both.read_text().splitlines()
        true(lines[0] == "first" and lines[-1] == "last" and "page-faults" in both.read_text(), f"{target}: {lines}")
    for words, who in ((["--help"], "tare"), (["help"], "tare"), (["--version"], "tare"), (["stat", "--help"], "tare stat"), (["record", "--help"], "tare record")):
        with open("/dev/full", "w") as full:
            r = subprocess.run([TARE, *words], stdout=full, stderr=subprocess.PIPE, text=True)
        equal((r.returncode, r.stderr), (125, f"{who}: cannot write to standard output: No space left on device\n"), str(words))
    true(re.search(r"^      --check\[=PERCENT\] ", sh(TARE, "diff", "--help=all").stdout, re.M), "a value that needs its =")
    for how in ([], ["-I", "20"]):
        r = sh(*STAT, *how, "-o", "/dev/full", "--", "sleep", "0.05", status=125)
        true("cannot write results to /dev/full: No space left on device\n" in r.stderr, r.stderr)
        fifo = HERE / "fifo"
        os.mkfifo(fifo)
        got = []
        reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
        reader.start()
        sh(*STAT, *how, "-o", str(fifo), "--", "sleep", "0.05")
        reader.join()
        true("page-faults" in got[0] and fifo.is_fifo(), got)
        fifo.unlink()


@test
def results_on_standard_output_are_not_mixed_with_the_commands():
    """What the command writes there goes to standard error, also of --pre and of every run."""
    loud = ["sh", "-c", "echo babble; sleep 0.05"]
    poll = [TARE, "windows", "--mode", "poll", "-e", "page-faults", "--every", "10ms"]
    cases = [([*STAT, "--format", "json", "-o", "-"], json.loads), ([*STAT, "--format", "json", "--log-fd", "1"], json.loads),
             ([*STAT, "--format", "json", "-r", "2", "--pre", "echo babble", "-o", "/dev/stdout"], json.loads),
             ([*poll, "--format", "json"], json.loads), ([*poll, "--format", "json", "-o", "/dev/fd/1"], json.loads),
             ([*STAT, "-x,", "-o", "-"], str), ([*STAT, "-I", "20", "-o", "-"], str), ([*poll, "--format", "csv"], str),
             ([*STAT, "--html", "-"], str)]
    for words, read in cases:
        r = sh(*words, "--", *loud)
        true("babble" not in r.stdout.replace("echo babble", ""), f"{words}: {r.stdout[:200]}")
        true("babble\n" in r.stderr and r.stdout, f"{words}: {r.stderr[:200]}")
        read(r.stdout)
    equal(sh(*STAT, "-o", str(HERE / "quiet.txt"), "--", *loud).stdout, "babble\n", "results elsewhere: it stays where it was")


@test
def links_of_other_users_are_not_followed():
    """As where fs.protected_symlinks is 1: in a sticky folder that others may write to."""
    if os.geteuid():
        skip("only root can give links to another user")
    room = HERE / "planted"
    room.mkdir()
    room.chmod(0o1777)
    secret, link, fifo = HERE / "secret", room / "link", room / "fifo"
    secret.write_text("was here\n")
    os.mkfifo(fifo, 0o666)
    link.symlink_to(secret)
    os.lchown(link, 65534, 65534)
    os.chown(fifo, 65534, 65534)
    writers = {
        **commands(),
        "record": [TARE, "record", "-q", "-o", "FILE", "-e", "cpu-clock:u", "--", "true"],
        "regions": [TARE, "regions", "-o", "FILE", "--", "true"],
        "rows": [*STAT, "-x,", "-I", "20", "-o", "FILE", "--", "true"],
        "append": [*STAT, "-x,", "--append", "-o", "FILE", "--", "true"],
    }
    for name, words in writers.items():
        for file in (link, fifo):
            r = run(words, file, status=None, timeout=20)
            true(r.returncode in (1, 125), f"{name}: {r.returncode} {r.stderr}")
            true("another user" in r.stderr and str(file) in r.stderr, f"{name}: {r.stderr}")
            equal((secret.read_text(), os.readlink(link)), ("was here\n", str(secret)), name)
    equal(beside(room), ["fifo", "link"], "nothing else is written")


@test
def companion_files_of_other_users_stay():
    """In a sticky folder: FILE.alloc and FILE.old of another user, or not written by tare, are neither removed nor replaced."""
    if os.geteuid():
        skip("only root can give files to another user")
    room = HERE / "companions"
    room.mkdir()
    room.chmod(0o1777)
    file, alloc, old, old_alloc = (room / n for n in ("data", "data.alloc", "data.old", "data.old.alloc"))
    record = [TARE, "record", "-o", "FILE", "-e", "cpu-clock:u", "--", "true"]
    real = b"TAREBLKS" + bytes(4088)
    for path in (alloc, old_alloc):
        for content, owner in ((real, 65534), (b"a letter", 0)):
            path.write_bytes(content)
            os.chown(path, owner, owner)
            file.write_bytes(b"")
            for _ in range(2):
                r = run(record, file)
                equal((path.read_bytes(), path.stat().st_uid), (content, owner), r.stderr)
            true(f"{path} was not moved or removed" in r.stderr, r.stderr)
            path.unlink()
    alloc.write_bytes(real)
    r = run(record, file)
    true(old_alloc.read_bytes() == real and not alloc.exists() and "was not moved" not in r.stderr, f"its own: {r.stderr}")
    before = file.read_bytes()
    for make in (lambda: old.write_bytes(b"another's"), lambda: old.symlink_to("nowhere"), lambda: os.mkfifo(old)):
        old.unlink()
        make()
        os.lchown(old, 65534, 65534)
        r = run(record, file, status=125, timeout=30)
        true("that file belongs to another user" in r.stderr and file.read_bytes() == before, r.stderr)
        equal(os.lstat(old).st_uid, 65534, r.stderr)
        (room / "data.part").unlink()
    old.unlink()
    if not (Path(TARE).parent / "memory/preload/libtare-alloc.so").exists():
        return
    alloc.symlink_to("nowhere")
    os.lchown(alloc, 65534, 65534)
    r = run([*record[:2], "--alloc", *record[2:]], file, status=125)
    true("another user" in r.stderr and os.readlink(alloc) == "nowhere", r.stderr)


@test
def where_nothing_can_be_put_in_its_place():
    """A folder that may not be written, another's file in a sticky one: over what is there; and with no room that stays."""
    if os.geteuid():
        skip("needs root")
    room = HERE / "sticky"
    room.mkdir()
    for part in (HERE, *HERE.parents):
        if not os.stat(part).st_mode & 0o001 or part == HERE:
            os.chmod(part, os.stat(part).st_mode | 0o011)
    tare = HERE / "tare-copy"
    tare.write_bytes(Path(TARE).read_bytes())
    tare.chmod(0o755)
    words = [*NOBODY, str(tare), "stat", "-e", "page-faults:u", "-o", "FILE", "--", "true"]
    for mode in (0o755, 0o1777):
        os.chmod(room, mode)
        file = room / "out"
        file.write_text("was here\n" * 1000)
        file.chmod(0o666)
        at = file.stat().st_ino
        run(words, file)
        true("page-faults" in file.read_text() and "was here" not in file.read_text(), oct(mode))
        equal((beside(room), file.stat().st_ino), (["out"], at), oct(mode))
        file.write_text("was here\n")
        run(words, file, status=125, preexec_fn=no_longer_than(20))
        equal((beside(room), file.read_text()), (["out"], "was here\n"), oct(mode))
        file.chmod(0o644)
        r = run(words, file, status=125)
        true("Permission denied" in r.stderr and file.read_text() == "was here\n", r.stderr)
        file.unlink()
    os.chmod(room, 0o755)
    r = run(words, room / "new", status=125)
    true("cannot write to" in r.stderr and "Permission denied" in r.stderr, r.stderr)


def inputs():
    """A file of each kind, and the commands that read it, written to FILE."""
    commands()
    r = Recording()
    r.mmap(1, 0x400000, 0x1000, 0, "/made/program")
    r.sample(ip=0x400100, addr=0x500008, src=source("load", "L1"))
    accesses, regions, other, windows = r.write(HERE / "accesses"), write(HERE / "regions", trees(1)), write(HERE / "other", trees(2)), HERE / "windows.csv"
    sh(TARE, "windows", "--mode", "poll", "--format", "csv", "-e", "page-faults", "--every", "10ms", "-o", str(windows), "--", "sleep", "0.05")
    symbols, before = HERE / "kallsyms", HERE / "before.data"
    symbols.write_text("0000000000000000 T nothing\n")
    before.write_bytes(DATA.read_bytes())
    return {
        DATA: [["report"], ["report", "--folded"], ["report", "--diff", str(before)], ["export", "-f", "folded"], ["export", "-f", "html"], ["annotate", "*", "-i"]],
        before: [["report", str(DATA), "--diff"]],
        symbols: [["report", str(DATA), "--kallsyms"]],
        accesses: [["memory"], ["sharing"], ["export", "--accesses=csv"]],
        regions: [["summarize"], ["diff", str(other)], ["aggregate", str(other)], ["export", "-f", "folded"]],
        windows: [["windows", "diff", str(windows)]],
    }


@test
def few_descriptors_are_never_silent():
    """Under any limit of open files a command works, or says why not."""
    count = ["-e", "instructions:u"] if os.uname().machine == "x86_64" else ["-e", "page-faults"]
    cases = [["stat", *count, "--", "true"], ["record", "-e", "cpu-clock:u", "-o", str(HERE / "few.data"), "--", "true"],
             ["regions", "-o", str(HERE / "few.tare"), "--", "true"], ["windows", "--mode", "poll", "-e", "page-faults", "--every", "10ms", "--", "true"],
             ["bench", "--asm", "nop"], ["run", "--", "true"], ["report", str(DATA)], ["verify", "faults"]]
    commands()
    for words in cases:
        for n in (4, 5, 6, 7, 8, 10, 12, 16):
            r = sh("sh", "-c", f'ulimit -n {n}; exec "$@"', "sh", TARE, *words, status=None, timeout=60)
            # faults that were found are a status, too, and they are on standard output
            true(r.returncode == 0 or r.stderr.strip() or (r.returncode == 1 and words[0] == "verify" and r.stdout), f"{words} with {n}: status {r.returncode}, silent")
            true(r.returncode < 128, f"{words} with {n}: {r.returncode} {r.stderr}")


@test
def what_is_read_is_not_written_over():
    other = {"export": ("-o",), "windows": ("--html",)}
    with_pages = "cannot" not in sh(TARE, "report", "--html", str(HERE / "page"), str(DATA), status=None).stderr
    for n, (file, reads) in enumerate(inputs().items()):
        names = [file, HERE / f"link{n}", HERE / f"hard{n}"]
        names[1].symlink_to(file)
        os.link(file, names[2])
        content, at = file.read_bytes(), file.stat().st_ino
        for command in reads:
            for option in other.get(command[0], ("-o", "--html") if with_pages and "--folded" not in command else ("-o",)):
                for name in names:
                    r = sh(TARE, *command, str(file), option, str(name), status=125)
                    true(f"{name} is an input and would be overwritten: give the output another name\n" in r.stderr and r.stderr.count("\n") == 1, r.stderr)
                    equal((file.read_bytes() == content, file.stat().st_ino, names[1].is_symlink()), (True, at, True), f"{command} {option}")
    sh(TARE, "report", "-o", str(HERE / "link-to-new"), str(HERE / "link0"))
    r = sh(TARE, "report", "-o", str(DATA), "-", status=125, stdin=DATA.open())
    true("is an input" in r.stderr, r.stderr)


@test
def version_names_the_features():
    version, *features = sh(TARE, "--version").stdout.splitlines()
    true(re.fullmatch(r"tare \d+\.\d+\.\d+", version), version)
    true(len(features) == 10 and all(re.fullmatch(r"  \S.{17}  (yes|no: .+)", f) for f in features), features)
    page = subprocess.run([*STAT, "--html", str(HERE / "version.html"), "--", "true"], capture_output=True)
    equal("  pages (--html)      yes" in features, page.returncode == 0, "the page is built")


@test
def help_fits_a_screen():
    """Of 24 lines and 80 columns; what is not there is counted, and in --help=all."""
    short, every = (sh(TARE, *words).stdout for words in (["help"], ["help", "all"]))
    names = re.findall(r"^  ([a-z]+)  +", every, re.M)
    true(len(names) == len(set(names)) > 20, names)
    also = re.search(r"^Also: (.*)$", short, re.M)[1].split()
    equal(sorted(re.findall(r"^  ([a-z]+)  +", short, re.M) + also), sorted(names), "each command once")
    screens = [short]
    for name in names:
        some, everything = (sh(TARE, name, how).stdout for how in ("--help", "--help=all"))
        screens.append(some)
        options = [set(re.findall(r"^ {2,8}(?:-(?:\w), )?(--[a-z-]+|-\w) ?", text, re.M)) for text in (some, everything)]
        if name == "verify":  # its kinds have options
            continue
        more = re.search(r"^(\d+) more options: tare (.*) --help=all", some, re.M)
        true(options[0] <= options[1] and some.startswith("  ") and "man tare" in some, some)
        equal(int(more[1]) if more else 0, len(options[1]) - len(options[0]), f"{name}: {options}")
    for text in screens:
        lines = text.splitlines()
        true(len(lines) <= 24 and max(map(len, lines)) <= 80, text)
    r = sh(TARE, "stat", "--help=some", status=125)
    true(r.stderr.startswith("tare stat: --help takes only =all\n"), r.stderr)


@test
def json_is_asked_for_alike():
    names = [line.split()[0] for line in sh(TARE, "help", "all").stdout.splitlines() if line.startswith("  ") and line.split()[0] != "tare"]
    kinds = ["counts", "faults", "launch", "skid"]
    asked = [[name] for name in names if name not in ("stat", "verify", "export")] + [["verify", kind] for kind in kinds] + [["windows", "diff"]]
    with_json = []
    for words in asked:
        rows = [line.split()[:2] for line in sh(TARE, *words, "--help=all").stdout.splitlines()]
        with_json += [words] if ["-j,", "--json"] in rows else []
        equal(["-j,", "--json"] in rows, ["--format", "FORMAT"] in rows, f"{words}: -j with --format")
    true(len(with_json) >= 18, with_json)
    for words in (["events", "page-faults"], ["report", str(DATA)], ["verify", "skid", "--no-store", "x"]):
        j, json_, form = (sh(TARE, *words, *how, status=None) for how in (["-j"], ["--json"], ["--format", "json"]))
        equal((j.returncode, j.stdout), (form.returncode, form.stdout), f"{words} -j")
        equal((json_.returncode, json_.stdout), (form.returncode, form.stdout), f"{words} --json")
        true(not form.stdout or json.loads(form.stdout), words)


main()
