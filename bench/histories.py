# SPDX-License-Identifier: MIT
"""Whether `tare bisect` and `tare gate` find the commit that made a real program slower.

usage: histories.py TARE [SEED]

Each history is a Debian source package: the upstream version, a commit for each patch of Debian, twenty commits that change no code, and one commit,
at a random place among these, that adds work to a function of the library. Needs apt-get with a Debian mirror, patch, gcc and make.

For each program: the commit and the function that `tare bisect` names must be those of the planted change; `tare gate run` must pass for the commit
before it, and fail for the commit itself. The last line counts both.
"""
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TARE, SEED = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
WORK = "\n{ volatile int planted_work = 0; for (int i = 0; i < 20; i++) planted_work += i; }\n"
# package: build, command, file and function, and the code before which the work is inserted
PROGRAMS = {
    "zlib": ("./configure --static >/dev/null && make -s libz.a minigzip", ["./minigzip", "-c", "ChangeLog"], "deflate.c", "deflate_slow",
             r"(?<=s->prev_match = s->match_start;)"),
    "jansson": ("cmake -B b -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON . >/dev/null && make -s -C b && gcc -O2 -Ib/include -o dump dump.c b/lib/libjansson.a",
                ["./dump"], "src/hashtable.c", "hashtable_set|hashtable_find_pair", r"(?<=size_t hash, index;)(?=\n)"),
    "lua5.4": ("gcc -O1 -DLUA_USE_POSIX -o lua-5.4 $(ls src/*.c | grep -v /luac.c) -lm", ["./lua-5.4", "test.lua"], "src/lvm.c", "luaV_concat",
               r"(?<=void luaV_concat \(lua_State \*L, int total\) {)"),
    "mawk": ("touch parse.c scancode.c array.c array.h; ./configure >/dev/null && make -s >/dev/null", ["./mawk", "{ n += length(n) } END { print n }", "CHANGES"], "cast.c", "cast1_to_s", r"(?<=\ncast1_to_s\(CELL \*cp\)\n{)"),
}
FILES = {
    "jansson": {"dump.c": '#include <jansson.h>\nint main(void) { json_t *o = json_object(); char k[16];\n'
                          'for (int i = 0; i < 300; i++) { snprintf(k, sizeof(k), "k%d", i); json_object_set_new(o, k, json_integer(i)); }\n'
                          'json_dumpf(o, stdout, JSON_SORT_KEYS); json_decref(o); return 0; }\n'},
    "lua5.4": {"src/lua5.4-deb-multiarch.h": '#define DEB_HOST_MULTIARCH "any"\n',
               "test.lua": 'local t = {}\nfor i = 1, 3000 do t[i] = tostring(i) .. "x" end\nprint(#table.concat(t))\n'},
}


def run(*words, **options):
    r = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, **{"cwd": os.getcwd(), **options})
    return r


def must(*words, **options):
    r = run(*words, **options)
    if r.returncode:
        sys.exit(f"{' '.join(words)}: status {r.returncode}: {r.stderr[-500:]}{r.stdout[-300:]}")
    return r.stdout.strip()


def apt(room, *words):
    here = f"{room}/apt"
    if not os.path.exists(here):
        os.makedirs(f"{here}/lists/partial")
        os.makedirs(f"{here}/cache/archives/partial")
        lines = Path("/etc/apt/sources.list").read_text() if os.path.exists("/etc/apt/sources.list") else ""
        for f in glob.glob("/etc/apt/sources.list.d/debian*.sources"):
            Path(here, "all.sources").write_text(re.sub(r"^Types: .*", "Types: deb-src", Path(f).read_text(), flags=re.M))
        if not os.path.exists(f"{here}/all.sources"):
            Path(here, "all.list").write_text(re.sub(r"^deb ", "deb-src ", lines, flags=re.M))
        apt(room, "update")
    listed = glob.glob(f"{here}/all.*")[0]
    return must("apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={listed}", "-o", "Dir::Etc::sourceparts=-", "-o", f"Dir::State::lists={here}/lists",
                "-o", f"Dir::Cache={here}/cache", "-o", "APT::Sandbox::User=root", *words, cwd=room)


class History:
    def __init__(self, room, package):
        self.package, self.path = package, Path(room, "history", package)
        self.path.mkdir(parents=True)
        apt(room, "source", "--download-only", package)
        source = sorted(glob.glob(f"{room}/{package}_*.orig.tar.*"))[0]
        must("tar", "xf", source, "-C", str(self.path), "--strip-components=1")
        must("tar", "xf", glob.glob(f"{room}/{package}_*.debian.tar.*")[0], "-C", room)
        self.git("init", "-q", "-b", "main")
        for name, text in FILES.get(package, {}).items():
            (self.path / name).write_text(text)
        build, command, *_ = PROGRAMS[package]
        (self.path / "tare.json").write_text(json.dumps({"build": build, "benchmarks": {package: {"command": command}}}))
        self.commit("upstream")
        series = Path(room, "debian/patches/series")
        for patch in series.read_text().split() if series.exists() else []:
            must("patch", "-s", "-p1", "-i", f"{room}/debian/patches/{patch}", cwd=self.path)
            self.commit(f"Debian: {patch}")
        must("rm", "-r", f"{room}/debian")

    def git(self, *words):
        return must("git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words, cwd=self.path)

    def commit(self, message):
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def plant(self):
        *_, file, self.function, before = PROGRAMS[self.package]
        text = (self.path / file).read_text()
        if not re.search(before, text):
            sys.exit(f"{file}: nothing matches {before}")
        (self.path / file).write_text(re.sub(before, lambda m: WORK, text, count=1))
        return self.commit("a planted change")

    def more(self, n):
        for _ in range(n):
            with open(self.path / "NOTES", "a") as notes:
                notes.write("a line\n")
            self.commit("no code")


def check(room, package, at):
    h = History(room, package)
    good = h.git("rev-list", "--max-parents=0", "HEAD")
    h.more(at)
    before = h.git("rev-parse", "HEAD")
    planted = h.plant()
    h.more(20 - at)
    build, command, *_ = PROGRAMS[package]
    r = run(TARE, "bisect", f"{good}..HEAD", "--build", build, "-j", "--", *command, cwd=h.path)
    d = json.loads(r.stdout) if r.stdout else {}
    commit, function = (d.get("commit") or {}).get("hash"), (d.get("function") or {}).get("function")
    right = commit == planted and re.fullmatch(h.function, function or "")
    status = {}
    for name, rev in (("before", before), ("planted", planted)):
        h.git("checkout", "-q", "-f", rev)
        must("sh", "-c", build, cwd=h.path)
        r = run(TARE, "gate", "run", "--strict", "--measure-base", "--base", f"{rev}~1", cwd=h.path)
        status[name] = r.returncode
        if r.returncode not in (0, 2):
            print(r.stdout, r.stderr)
    print(f"{package}: {len(h.git('rev-list', 'main').split())} commits, planted at {planted[:12]}; bisect: {commit and commit[:12]}, "
          f"{'right' if right else f'WRONG: {r.stderr or function}'}; gate: status {status['before']} before, {status['planted']} for it", flush=True)
    return bool(right), status == {"before": 0, "planted": 2}


random.seed(SEED)
with tempfile.TemporaryDirectory() as room:
    results = [check(room, package, random.randrange(20)) for package in PROGRAMS]
print(f"{len(results)} histories: bisect right in {sum(r[0] for r in results)}, gate in {sum(r[1] for r in results)}")
sys.exit(not all(a and b for a, b in results))
