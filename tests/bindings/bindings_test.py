# SPDX-License-Identifier: MIT
"""Regions from C++, Python, Rust and -finstrument-functions, read back.

usage: bindings_test.py TARE PROGRAM LIBTARE.SO LIBTARE-FUNCTIONS.SO TOP INCLUDE...   (PROGRAM: tests/programs/regions)
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "guest" / "inside"))
from check import equal, main, skip, test, true  # noqa: E402

TARE, PROGRAM, LIBRARY, FUNCTIONS, TOP = (os.path.abspath(p) for p in sys.argv[1:6])
INCLUDES = [f"-I{os.path.abspath(p)}" for p in sys.argv[6:]]
ROOM = tempfile.TemporaryDirectory()
PATHS = f"{os.path.dirname(LIBRARY)}:{os.path.dirname(FUNCTIONS)}"
ENV = {k: v for k, v in os.environ.items() if not k.startswith("TARE_")}
ENV |= {"LD_LIBRARY_PATH": PATHS, "PYTHONPATH": f"{TOP}/bindings/python", "TARE_LIBRARY": LIBRARY, "TARE_LIB_DIR": os.path.dirname(LIBRARY),
        "PYTHONDONTWRITEBYTECODE": "1"}
LINK = [f"-L{d}" for d in PATHS.split(":")]


def sh(*words, status=0, env=ENV):
    r = subprocess.run(words, capture_output=True, text=True, timeout=200, env=env, cwd=ROOM.name)
    if status is not None:
        equal(r.returncode, status, f"exit status of {' '.join(words)}; {r.stderr[-1500:]}")
    return r


def words(name):
    return sh(PROGRAM, "words", name).stdout.splitlines()


def ways(name):
    """What is known of the cost of regions, by the way they were recorded: (way, regions, is it known)."""
    document = json.loads(sh(TARE, "summarize", "--format", "json", name).stdout)
    return [(o["way"], o["regions"], o.get("inside", 0) > 0 and o["inside_off"] > 0) for o in document["counters"][0]["own"]]


def python(code, name="py.tare", status=0):
    Path(ROOM.name, "p.py").write_text("import tare\n" + code)
    return sh(TARE, "regions", "-q", "-e", "none", "-o", name, "--", sys.executable, "p.py", status=status)


# The module alone, and with its extension where that was built.
MODULES = [f"{TOP}/bindings/python"]
BUILT = Path(LIBRARY).parent.parent.parent / "bindings" / "python"
if sh(sys.executable, "-c", "import tare; exit(not tare._region)", status=None, env=ENV | {"PYTHONPATH": str(BUILT)}).returncode == 0:
    MODULES.append(str(BUILT))


def of_each_module(function):
    def each():
        for module in MODULES:
            ENV["PYTHONPATH"] = module
            function()
        ENV["PYTHONPATH"] = MODULES[0]
    each.__name__ = function.__name__
    return test(each)


@of_each_module
def python_example():
    r = sh(TARE, "regions", "-o", "ex.tare", "--", sys.executable, f"{TOP}/examples/region.py")
    equal(r.stdout, "recorded\n", "output")
    true("of 4 threads" in r.stderr, r.stderr)
    equal(sh(sys.executable, f"{TOP}/examples/region.py").stdout, "not recorded\n", "off")
    (way, regions, known), = ways("ex.tare")
    true(way == "Python" and regions > 0 and known, f"{way} {regions} {known}")


@of_each_module
def python_regions_in_words():
    python("""
@tare.region("f")
def f(n):
    if n:
        f(n - 1)
f(1)
with tare.region("query", "typeck", 7):
    tare.instant("now")
    tare.integer(2**64 - 1, "big")
    for wrong in (("big", 1), (1.5, "big")):
        try:
            tare.integer(*wrong)
        except TypeError as e:
            assert "the value comes first" in str(e), e
        else:
            raise AssertionError(wrong)
t = tare.Timing("apart")
t.finish()
try:
    with tare.region("raises"):
        raise KeyError
except KeyError:
    pass
""")
    equal(words("py.tare"), ["f( f( f) f) query,typeck,7( now. big=18446744073709551615 query,typeck,7) apart< apart> raises( raises)"])


@of_each_module
def python_starts_and_stops_by_itself():
    sh(sys.executable, "-c", """
import tare
r = tare.region("a")
with r: pass
try:
    tare.start("/nowhere/x")
except tare.Error as e:
    assert e.errno == 2 and "/nowhere/x" in str(e), e
for events in ("none", "wall-time"):
    tare.start("own.tare", events)
    with r: pass
    with r:
        with r: pass
    held = tare.region("held")
    held.__enter__()
    tare.stop()
    held.__exit__()
tare.start("bad.tare")
with tare.region(""):
    with tare.region("a\\0b", "\\0"): pass
tare.stop()
""")
    equal(words("own.tare"), ["a( a) a( a( a) a) held( held)!"])
    equal(words("bad.tare"), ["aU+0000b,U+0000( aU+0000b,U+0000)"], "what is no label breaks nothing, recorded or not")


@of_each_module
def python_labels_of_any_text_and_arguments():
    """What runs while nothing is recorded runs while something is."""
    code = r"""
for name, *args in (("\ud800",), ("a", "\udfff\0"), ("raw \udcff",), ("list", [1, "x"]), ("list", [1, "x"]), ("dict", {}, set()), (1,), (True,), (1.0,), ("k", "x", 1), ("k", "x", True), ("k", "x", 1)):
    with tare.region(name, *args): pass
    tare.Timing(name, *args).finish()
exec(compile("with tare.region('there'): pass", "x.py", "exec").replace(co_filename="\ud800.py"))
"""
    sh(sys.executable, "-c", "import tare" + code)
    python(code)
    csv = subprocess.run([TARE, "summarize", "--args", "--sort", "name", "--format", "csv", "py.tare"], capture_output=True, timeout=200, env=ENV, cwd=ROOM.name)
    equal(sorted(re.sub(rb",[^,]*,\d.*", b"", line) for line in csv.stdout.splitlines()[1:]),
          sorted([b"U+D800,,", b"a,,U+DFFFU+0000", b"1,,", b"True,,", b"1.0,,", b"k,,x\\x1e1", b"k,,x\\x1eTrue", b"dict,,{}\\x1eset()", b'list,,"[1, \'x\']"', b"raw \\xff,,", b"there,,"]),
          "labels, control bytes and invalid UTF-8 escaped")


@test
def a_label_that_a_terminal_would_obey():
    r = python("tare.region('red \\x1b[31m\\n').__enter__()")
    true(re.search(r"red \\x1b\[31m\\x0a' \([^)]*p\.py:2\): 1 begun and not ended", r.stderr) and "\x1b" not in r.stderr, repr(r.stderr))


@test
def a_directory_that_changes_between_runs():
    if os.uname().machine != "x86_64":
        return
    Path(ROOM.name, "l.py").write_text("import os, tare\nfor _ in range(20):\n    with tare.region('list'):\n        len(os.listdir('.'))\n")
    for i in range(2): # the first one's recording is in the way of the second
        sh(TARE, "regions", "-q", "--engine", "exact", "-e", "instructions:u", "-o", f"l{i}.tare", "--", sys.executable, "l.py")
    r = sh(TARE, "aggregate", "l0.tare", "l1.tare")
    true("tare diverge -- COMMAND" in " ".join(r.stdout.split()), r.stdout)


@test
def arguments_of_a_label_are_one_warning():
    r = python("for i in range(3):\n    tare.region('task', i).__enter__()")
    equal(re.findall(r"warning: '(.*)", r.stderr.replace(ROOM.name, "")), ["task' (/p.py:3): 3 begun and not ended"], r.stderr)


@of_each_module
def python_tasks_that_interleave_are_cut():
    """One label in all tasks: in the file's own order of begin and end alone nothing would be wrong."""
    r = python("""
import asyncio
async def one(n):
    with tare.region("across"):
        await asyncio.sleep(0)
        with tare.region("inner"):
            pass
async def main():
    with tare.region("alone"):
        await asyncio.sleep(0)
    await asyncio.gather(one(1), one(2), one(3))
with tare.region("all"):
    asyncio.run(main())
""")
    true(re.search(r"'across' \([^)]*p\.py:5\): 3 begun and not ended\n", r.stderr), r.stderr)
    true("'inner'" not in r.stderr and "'all'" not in r.stderr and "'alone'" not in r.stderr, r.stderr)
    rows = {x["label"]: x for x in json.loads(sh(TARE, "summarize", "--format", "json", "py.tare").stdout)["labels"]}
    equal({k: (x["count"], x["cut"]) for k, x in rows.items()}, {"all": (1, 0), "alone": (1, 0), "across": (3, 3), "inner": (3, 0)}, "count, cut")


@of_each_module
def python_generators_threads_and_orders():
    r = python("""
import threading
def g(name):
    with tare.region(name):
        yield
for a, b in zip(g("first"), g("second")):   # "second" is left before "first" is, or the other way round
    pass
held = g("held"); next(held)
with tare.region("around"):
    next(held, None)
t = tare.region("moves")
t.__enter__()
with tare.region("behind"):
    pass
thread = threading.Thread(target=t.__exit__)
thread.start(); thread.join()
shared = tare.region("shared")
def many():
    for _ in range(200):
        with shared, shared:
            pass
threads = [threading.Thread(target=many) for _ in range(4)]
for t in threads: t.start()
for t in threads: t.join()
""")
    lines = dict(re.findall(r"warning: '(\w+)' \([^)]*\): (.*)", r.stderr))
    equal((lines["around"], lines["moves"]), ("1 begun and not ended", "1 begun and not ended, 1 ended and not begun"), r.stderr)
    equal(("held" in lines, "behind" in lines, "shared" in lines), (False, False, False), r.stderr)
    rows = {x["label"]: x for x in json.loads(sh(TARE, "summarize", "--format", "json", "py.tare").stdout)["labels"]}
    equal((rows["shared"]["count"], rows["shared"]["cut"]), (1600, 0), "of one object in several threads")


@of_each_module
def python_regions_over_a_start_or_stop():
    """Regions that begin while nothing is recorded are in no recording, whatever begins and ends in them."""
    Path(ROOM.name, "p.py").write_text("""
import tare, threading
kept = tare.region("kept")
def thread():
    with tare.region("off in thread"):
        pass
with tare.region("off"), kept:
    tare.start("over.tare", "none")
    with kept, tare.region("on"):
        pass
    t = threading.Thread(target=thread); t.start(); t.join()
    with tare.region("stopped in"):
        tare.stop()
        with tare.region("off again"), kept:
            pass
tare.start("over2.tare", "none")
with tare.region("second"):
    pass
tare.stop()
assert tare.region(name="x")._name == "x"
for wrong in (lambda: tare.region(), lambda: tare.region("x")(1, 2)):
    try:
        wrong()
    except TypeError:
        continue
    raise SystemExit("no TypeError")
class Own(tare.region):
    pass
with Own("own", 1) as own:
    assert own._args == (1,) and isinstance(own, tare.region)
@tare.region("f")
def f(x, *, y):
    "its words"
    return x + y
assert f(1, y=2) == 3 and f.__name__ == "f" and f.__doc__ == "its words"
""")
    sh(sys.executable, "p.py")
    document = json.loads(sh(TARE, "summarize", "--format", "json", "over.tare", status=None).stdout)
    counts = {r["label"]: (r["count"], r["cut"]) for r in document["labels"]}
    equal(counts, {"kept": (1, 0), "on": (1, 0), "off in thread": (1, 0), "stopped in": (1, 1)}, "first")
    document = json.loads(sh(TARE, "summarize", "--format", "json", "over2.tare").stdout)
    equal({r["label"]: r["count"] for r in document["labels"]}, {"second": 1}, "second")
    for name in ("over.tare", "over2.tare"):
        os.unlink(os.path.join(ROOM.name, name))


@of_each_module
def python_that_runs_out_of_stack():
    """The program's own exception, recorded or not; nothing is cut."""
    code = """
import tare
seen = {}
def f(n):
    with tare.region("deep"):
        return f(n + 1)
with tare.region("main"):
    for i in range(20):
        with tare.region("step"):
            try:
                f(0)
            except Exception as e:
                seen[type(e).__name__] = seen.get(type(e).__name__, 0) + 1
print(seen)
"""
    r = python(code)
    equal((r.stdout, r.stderr), ("{'RecursionError': 20}\n", ""), "as without a recording")
    rows = {x["label"]: (x["count"], x["cut"]) for x in json.loads(sh(TARE, "summarize", "--format", "json", "py.tare").stdout)["labels"]}
    equal((rows["main"], rows["step"]), ((1, 0), (20, 0)), "count, cut")


@of_each_module
def python_exceptions_anywhere():
    """A handler that raises leaves a region's begin or end unfinished: that one is cut at most, and none around it."""
    code = """
import signal
def late(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, late)
with tare.region("main"):
    for i in range(200):
        with tare.region("step"):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0003)
                while True:
                    with tare.region("work"):
                        pass
            except TimeoutError:
                pass
"""
    r = python(code)
    true("'main'" not in r.stderr and "'step'" not in r.stderr and "not begun" not in r.stderr, r.stderr)
    rows = {x["label"]: (x["count"], x["cut"]) for x in json.loads(sh(TARE, "summarize", "--format", "json", "py.tare").stdout)["labels"]}
    equal((rows["main"], rows["step"]), ((1, 0), (200, 0)), "count, cut")


@of_each_module
def python_refuses_what_would_measure_nothing():
    for kind, body in (("async def", "pass"), ("def", "yield"), ("async def", "yield")):
        r = python(f"@tare.region('f')\n{kind} f():\n    {body}\n", status=1)
        true("TypeError" in r.stderr and "Timing" in r.stderr, r.stderr)


@of_each_module
def python_without_the_library():
    code = """
import tare
@tare.region("f")
def f(): pass
f()
with tare.region("a", 1):
    tare.instant("i")
    tare.integer(3, "n")
tare.Timing("t").finish()
tare.stop()
assert not tare.recording() and tare.label("a") == 0 and tare.generation() == 0
try:
    tare.start("x")
except tare.Error as e:
    assert e.errno == 2 and "libtare" in str(e) and "TARE_LIBRARY" in str(e), e
else:
    raise SystemExit("started")
"""
    env = {k: v for k, v in ENV.items() if k not in ("TARE_LIBRARY", "LD_LIBRARY_PATH")}
    if not subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('libtare.so.0')"], env=env, capture_output=True).returncode:
        skip("libtare is installed here")
    equal(sh(sys.executable, "-c", code, env=env).stderr, "", "nobody asked for a recording")
    said = sh(sys.executable, "-c", code, env={**env, "TARE_REGIONS": "x.tare"}).stderr
    equal(said.count("RuntimeWarning: tare: no regions of this program are recorded"), 1, said)
    said = sh(sys.executable, "-c", "import tare", env={**env, "TARE_LIBRARY": "/nowhere/l.so"}, status=1).stderr
    true("ImportError: /nowhere/l.so" in said and "TARE_LIBRARY is the path" in said, said)


@test
def cplusplus():
    if not shutil.which("c++"):
        skip("no c++")
    sh("c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-O2", f"{TOP}/examples/region.cpp", *INCLUDES, "-o", "cpp", *LINK, "-ltare",
       "-pthread")
    sh("./cpp", "cpp.tare")
    lines = words("cpp.tare")
    equal(lines, [" ".join(["worker("] + ["step( step)"] * 100 + ["worker)"])] * 4, "four workers")


@test
def c_example():
    sh("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", f"{TOP}/examples/region.c", *INCLUDES, "-o", "c", *LINK, "-ltare")
    sh(TARE, "regions", "-q", "-o", "c.tare", "--", "./c")
    line, = words("c.tare")
    true(line.startswith("all( round,even( fill( fill) sum( sum) sum="), line[:100])
    equal(line.count("round,odd("), 25, "odd rounds")


PLUGIN = """
#include <tare/region.h>
TARE_REGION(p, "plug-in");
void run(void);
void run(void) { TARE_REGION_SCOPE(&p); }
"""

PLUGIN_HOST = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_barrier_t both;
static void *open_it(void) { return dlopen("./plugin.so", RTLD_NOW); }
static void run(void *p) { ((void (*)(void))dlsym(p, "run"))(); }
static void *thread(void *p) { run(p); pthread_barrier_wait(&both); pthread_barrier_wait(&both); return NULL; }
int main(int argc, char **argv)
{
	int n = atoi(argv[argc - 1]), keys = 0;
	pthread_key_t key;
	pthread_t t;
	void *p = open_it();

	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t, NULL, thread, p);
	pthread_barrier_wait(&both);
	dlclose(p);
	pthread_barrier_wait(&both);
	pthread_join(t, NULL);
	if (!fork())
		_exit(0);
	wait(NULL);
	for (int i = 0; i < n; i++)
		run(p = open_it()), dlclose(p);
	while (pthread_key_create(&key, NULL) == 0)
		keys++;
	printf("%s %d\n", dlopen("./plugin.so", RTLD_NOW | RTLD_NOLOAD) ? "there" : "closed", keys);
	return 0;
}
"""

PYTHON_HOST = """
import _ctypes, ctypes, threading
plugin, ran, closed = ctypes.CDLL("./plugin.so"), threading.Event(), threading.Event()
def thread():
    plugin.run()
    ran.set()
    closed.wait()
t = threading.Thread(target=thread)
t.start()
ran.wait()
_ctypes.dlclose(plugin._handle)
closed.set()
t.join()
print("ended")
"""


@test
def a_plug_in_that_is_closed():
    """libtare came with it, and stays: threads that recorded end later, the process forks, and the next plug-in finds the same recording."""
    for name, text in (("plugin.c", PLUGIN), ("host.c", PLUGIN_HOST), ("host.py", PYTHON_HOST)):
        Path(ROOM.name, name).write_text(text)
    sh("cc", "-O2", "-shared", "-fPIC", "plugin.c", *INCLUDES, "-o", "plugin.so", *LINK, "-ltare")
    sh("cc", "-pthread", "host.c", "-o", "host", "-ldl")
    keys = [sh(*words, "./host", n).stdout for words in ([], [TARE, "regions", "-q", "-o", "plugin.tare", "--"]) for n in ("1", "30")]
    closed, left = keys[0].split()
    equal(keys, [keys[0]] * 2 + [f"{closed} {int(left) - 1}\n"] * 2, "keys of threads that are left: one less, however often it is loaded")
    equal(closed, "closed", "the plug-in itself")
    equal(sorted(words("plugin.tare")), ["plug-in( plug-in)", " ".join(["plug-in( plug-in)"] * 30)], "one stream for each thread")
    equal(sh(TARE, "regions", "-q", "-o", "plugin.tare", "--", sys.executable, "host.py").stdout, "ended\n", "Python")
    equal(words("plugin.tare"), ["plug-in( plug-in)"], "Python's thread")


@test
def a_library_where_a_closed_plug_in_was():
    """Nothing is written to what is no region any more."""
    Path(ROOM.name, "first.c").write_text('#include <tare/region.h>\nchar pad[65536] = { 1 };\nTARE_REGION(p, "first");\n'
                                          'const void *where(void);\nconst void *where(void) { TARE_REGION_SCOPE(&p); return &p; }\n')
    Path(ROOM.name, "second.c").write_text("unsigned char fill[65700] = { [0 ... 65699] = 17 };\n")
    Path(ROOM.name, "closes.c").write_text(r"""
#include <dlfcn.h>
#include <stdio.h>
#include <tare/region.h>
int main(void)
{
	const char *(*where)(void), *p;
	unsigned char *fill;
	void *first;
	int changed = 0;

	if (tare_regions_start("closes.tare", "none", NULL))
		return 1;
	first = dlopen("./first.so", RTLD_NOW);
	where = (const char *(*)(void))dlsym(first, "where");
	p = where();
	dlclose(first);
	fill = dlsym(dlopen("./second.so", RTLD_NOW), "fill");
	tare_regions_stop(NULL);
	for (int i = 0; i < 65700; i++)
		changed += fill[i] != 17;
	printf("%d %d\n", p >= (char *)fill && p < (char *)fill + 65700, changed);
	return 0;
}
""")
    for name, more in (("first", [*INCLUDES, *LINK, "-ltare"]), ("second", [])):
        sh("cc", "-O2", "-shared", "-fPIC", f"{name}.c", "-o", f"{name}.so", *more)
    sh("cc", "closes.c", "-o", "closes", *INCLUDES, *LINK, "-ltare", "-ldl")
    same, changed = sh("./closes").stdout.split()
    equal(changed, "0", "bytes of the other library")
    if same == "0":
        skip("the loader puts it elsewhere")


@test
def every_function():
    Path(ROOM.name, "f.c").write_text("""
static int leaf(int x) { return x * 3; }
int middle(int x) { return leaf(x) + leaf(x + 1); }
static int other(int x) { return leaf(x); }
int main(void) { return middle(1) + other(0) != 9; }
""")
    sh("cc", "-O0", "-finstrument-functions", "f.c", "-o", "f", *LINK, "-ltare-functions", "-ltare")
    for chosen, expected in ((None, "main( middle( leaf( leaf) leaf( leaf) middle) other( leaf( leaf) other) main)"),
                             ("!leaf", "main( middle( middle) other( other) main)"),
                             ("m*,!main", "middle( middle)"), ("nothing,leaf", "leaf( leaf) leaf( leaf) leaf( leaf)")):
        env = {**ENV, **({"TARE_FUNCTIONS": chosen} if chosen else {})}
        sh(TARE, "regions", "-q", "-e", "none", "-o", "f.tare", "--", "./f", env=env)
        equal(words("f.tare"), [expected], str(chosen))
    sh("./f")
    sh(TARE, "regions", "-q", "-o", "f.tare", "--", "./f")
    equal(ways("f.tare"), [("-finstrument-functions", 6, True)])
    # Without a symbol table a function is known by its place.
    sh("strip", "f")
    sh(TARE, "regions", "-q", "-e", "none", "-o", "f.tare", "--", "./f")
    true(words("f.tare")[0].startswith("f+0x"), words("f.tare")[0])


@test
def functions_of_a_child_whose_parent_was_naming_one():
    """What another thread had in hand is nobody's in the child: it does not wait for it."""
    Path(ROOM.name, "fork.c").write_text("""
        #include <pthread.h>
        #include <stdlib.h>
        #include <sys/wait.h>
        #include <unistd.h>
        static int leaf(int i) { return i; }
        static void *work(void *x) { for (int i = 0; i < 100; i++) leaf(i); return x; }
        int main(void)
        {
            pthread_t t[3];
            for (int i = 0; i < 3; i++) pthread_create(t + i, 0, work, 0);
            if (!fork()) { work(0); exit(0); }
            for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
            wait(0);
            return 0;
        }""")
    sh("cc", "-O0", "-g", "-finstrument-functions", "-pthread", "fork.c", "-o", "fork", *LINK, "-ltare-functions", "-ltare")
    for _ in range(12):
        sh("timeout", "-k", "1", "20", TARE, "regions", "-q", "-o", "fork.tare", "--", "./fork")
        rows = json.loads(sh(TARE, "summarize", "--format", "json", "fork.tare").stdout)["labels"]
        equal([r["count"] for r in rows if r["label"] == "leaf"], [400])


@test
def functions_of_a_library_where_another_was():
    """Its functions have their own names at the same addresses, and another file's at the same path; those of the program keep theirs."""
    Path(ROOM.name, "reloads.c").write_text(r"""
#include <dlfcn.h>
#include <stdio.h>
static void program(void) { }
int main(void)
{
	static const char *const library[] = { "./1.so", "./2.so", "./same.so", "./same.so" };
	void (*f)(void) = NULL, (*before)(void) = NULL;
	int same = 1;

	program();
	for (int i = 0; i < 4; i++, before = f) {
		void *l = dlopen(library[i], i & 1 ? RTLD_NOW : RTLD_LAZY);

		f = (void (*)(void))dlsym(l, "run");
		same &= !before || before == f;
		f();
		program();
		dlclose(l);
		rename("4.so", i == 2 ? "same.so" : "4.so");
	}
	printf("%d\n", same);
	return 0;
}
""")
    for n in range(1, 5):
        Path(ROOM.name, "library.c").write_text(f"static void f{n}(void) {{ }}\nvoid run(void) {{ f{n}(); f{n}(); }}\n")
        sh("cc", "-O0", "-shared", "-fPIC", "-finstrument-functions", "library.c", "-o", f"{'same' if n == 3 else n}.so", *LINK, "-ltare-functions", "-ltare")
    sh("cc", "-O0", "-finstrument-functions", "reloads.c", "-o", "reloads", *LINK, "-ltare-functions", "-ltare", "-ldl")
    r = sh(TARE, "regions", "-q", "-e", "none", "-o", "f.tare", "--", "./reloads")
    equal(words("f.tare"), ["main( program( program) " + "".join(f"run( f{n}( f{n}) f{n}( f{n}) run) program( program) " for n in range(1, 5)) + "main)"])
    if r.stdout != "1\n":
        skip("the loader puts them elsewhere")


@test
def functions_of_a_plug_in():
    """Opened by a program that is not linked with libtare-functions, where glibc's hooks come first, which do nothing; again and again."""
    for n in (1, 2):
        Path(ROOM.name, "library.c").write_text(f"static void f{n}(void) {{ }}\nvoid run(void) {{ f{n}(); f{n}(); }}\n")
        for name, tail in ((f"plug{n}.so", ["-ltare-functions"]), (f"static{n}.so", ["-l:libtare-functions.a"])):
            sh("cc", "-O0", "-shared", "-fPIC", "-finstrument-functions", "library.c", "-o", name, *LINK, *tail, "-ltare")
    Path(ROOM.name, "open.py").write_text("""
import ctypes, _ctypes, sys
for i in range(30):
    for n in (1, 2):
        library = ctypes.CDLL(f"./{sys.argv[1]}{n}.so")
        library.run()
        _ctypes.dlclose(library._handle)
""")
    for name in ("plug", "static"):
        sh(TARE, "regions", "-q", "-e", "none", "-o", "plug.tare", "--", sys.executable, "open.py", name)
        equal(words("plug.tare"), [" ".join(["run( f1( f1) f1( f1) run) run( f2( f2) f2( f2) run)"] * 30)], name)


@test
def functions_of_a_program_that_is_linked_without():
    """It calls glibc's hooks; preloaded, libtare-functions has those, too."""
    Path(ROOM.name, "f.c").write_text("static void f(void) { }\nint main(void) { f(); return 0; }\n")
    sh("cc", "-O0", "-finstrument-functions", "f.c", "-o", "f")
    sh(TARE, "regions", "-q", "-e", "none", "-o", "f.tare", "--", "env", f"LD_PRELOAD={FUNCTIONS}", "./f")
    equal(words("f.tare"), ["main( f( f) main)"])
    said = sh(TARE, "regions", "-q", "-e", "none", "-o", "f.tare", "--", "./f", status=125).stderr
    true("no regions" in said, said)


@test
def functions_and_regions_of_their_own():
    """The recorder's inline functions are no functions of the program: they would stand in the midst of a point."""
    Path(ROOM.name, "both.c").write_text("""
#include <tare/region.h>
#include <tare/pinned.h>
TARE_REGION(a, "a");
static void f(void) { tare_region_begin(&a); tare_region_end(&a); { TARE_REGION_SCOPE(&a); } { TARE_LABEL_SCOPE(tare_region_label(&a)); } }
int main(void) { f(); f(); return 0; }
""")
    for compiler, language, f in (("cc", "c", "f"), ("c++", "c++", "f()"), ("clang", "c", "f"), ("clang++", "c++", "f()")):
        if not shutil.which(compiler):
            continue
        for level in ("-O0", "-O2"):
            sh(compiler, level, "-fno-inline", "-finstrument-functions", "-x", language, "both.c", "-x", "none", *INCLUDES, "-o", "both", *LINK, "-ltare-functions", "-ltare")
            sh(TARE, "regions", "-q", "-o", "both.tare", "--", "./both")
            equal(words("both.tare"), ["main( " + f"{f}( a( a) a( a) a( a) {f}) " * 2 + "main)"], f"{compiler} {level}")


HANDLER = r"""
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <tare/region.h>
TARE_REGION(a, "a");
TARE_REGION(s, "sig");
static volatile int calls;
static void handler(int n) { (void)n; calls++; PUT(s); }
int main(void)
{
	struct itimerval t = { { 0, 200 }, { 0, 200 } };

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &t, 0);
	for (int i = 0; i < 3000000; i++)
		PUT(a);
	t = (struct itimerval){ { 0, 0 }, { 0, 0 } };
	setitimer(ITIMER_REAL, &t, 0);
	printf("%d\n", calls);
	return 0;
}
"""


@test
def signal_handlers():
    """What a handler interrupts is whole; what it records meanwhile is there, or counted as lost. Its first region may come while the thread's first does."""
    Path(ROOM.name, "sig.c").write_text(HANDLER)
    for way, flags, name in (("regions", ("-DPUT(x)=(tare_region_begin(&x),tare_region_end(&x))",), "sig"),
                             ("functions", ("-O0", "-finstrument-functions", "-include", "sig.h", "-ltare-functions"), "handler")):
        Path(ROOM.name, "sig.h").write_text("static void in_a(void) {} static void in_s(void) {}\n#define PUT(x) in_##x()\n")
        sh("cc", *(flags[:-1] if way == "functions" else flags), "-O1" if way == "regions" else "-O0", "-Wno-unused", "sig.c", *INCLUDES, "-o", "sig", *LINK,
           *(["-ltare-functions"] if way == "functions" else []), "-ltare")
        for _ in range(3):
            r = sh(TARE, "regions", "-o", "sig.tare", "--", "./sig")
            calls = int(r.stdout)
            document = json.loads(sh(TARE, "summarize", "--format", "json", "sig.tare", status=None).stdout)
            counts = {x["label"]: x["count"] for x in document["labels"]}
            equal(counts["a" if way == "regions" else "in_a"], 3000000, way)
            lost = re.search(r"(\d+) points of signal handlers", r.stderr)
            lost = int(lost.group(1)) if lost else 0
            recorded = counts.get(name, 0) + (counts.get("in_s", 0) if way == "functions" else 0)
            equal(2 * recorded + lost, 2 * calls * (2 if way == "functions" else 1), f"{way}: begins and ends of handlers, {r.stderr}")


THREADS = """
#include <pthread.h>
#include <tare/region.h>
TARE_REGION(a, "a");
TARE_REGION(b, "b");
static void *many(void *x)
{
	for (int i = 0; i < 50; i++) {
		const char *arg[] = { (char[]){ (char)('A' + i % 20), 0 } };
		tare_label label = tare_label_new("label", arg, 1);
		tare_label_begin(label); tare_label_end(label);
		tare_region_begin(&a); tare_region_begin(&b); tare_region_end(&b); tare_region_end(&a);
	}
	return x;
}
int main(void)
{
	for (int round = 0; round < 10; round++) {
		pthread_t t[8];
		for (int i = 0; i < 8; i++) pthread_create(t + i, 0, many, 0);
		for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
	}
}
"""


@test
def programs_under_the_thread_sanitizer():
    """It sees the program, and of the library, which is built without it, only what it calls."""
    Path(ROOM.name, "tsan.c").write_text(THREADS)
    Path(ROOM.name, "none.c").write_text("int main(void) { return 0; }\n")
    # Its programs end where a random address is one of its own.
    native = ["setarch", "-R"] if shutil.which("setarch") and sh("setarch", "-R", "true", status=None).returncode == 0 else []
    if sh("cc", "-fsanitize=thread", "none.c", "-o", "none", status=None).returncode or sh(*native, "./none", status=None).returncode:
        skip("no thread sanitizer")
    sh("cc", "-O1", "-fsanitize=thread", "tsan.c", *INCLUDES, "-o", "tsan", *LINK, "-ltare")
    equal(sh(*native, TARE, "regions", "-q", "-e", "none", "-o", "tsan.tare", "--", "./tsan").stderr, "", "reports")
    rows = json.loads(sh(TARE, "summarize", "--format", "json", "tsan.tare").stdout)["labels"]
    equal({x["label"]: x["count"] for x in rows if x["label"] in "ab"}, {"a": 4000, "b": 4000}, "counts")


@test
def functions_of_cplusplus_by_their_readable_names():
    if not shutil.which("c++"):
        skip("no c++")
    Path(ROOM.name, "g.cc").write_text("""
namespace foo { struct bar { int get(int x) { return x; } int put(int a, long b) { return a + (int)b; } int operator()(int x) { return x; } };
namespace { int hidden(int x) { return x + 1; } } int call(int x) { return hidden(x); } }
int main() { foo::bar b; return b.get(1) + b.put(1, 2) + b(0) + foo::call(0) - 5; }
""")
    sh("c++", "-O0", "-finstrument-functions", "g.cc", "-o", "g", *LINK, "-ltare-functions", "-ltare")
    get, put, op, hidden = "foo::bar::get(int)", "foo::bar::put(int, long)", "foo::bar::operator()(int)", "foo::(anonymous namespace)::hidden(int)"
    for chosen, expected in (("foo::bar::*", [get, put, op]), ("foo::bar::put(int, long)", [put]), ("foo::bar::*,!foo::bar::get(int)", [put, op]),
                             ("foo::bar::get", [get]), ("foo::bar::operator()", [op]), ("_ZN3foo3bar3getEi", [get]), ("foo::bar::put(int, int)", []),
                             ("foo::(anonymous namespace)::hidden", [hidden]), ("bar*", [])):
        r = sh(TARE, "regions", "-q", "-e", "none", "-o", "g.tare", "--", "./g", env={**ENV, "TARE_FUNCTIONS": chosen}, status=0 if expected else 125)
        equal(words("g.tare") if expected else [], [" ".join(f"{n}( {n})" for n in expected)] if expected else [], chosen + r.stderr)
        equal("TARE_FUNCTIONS selects no function" in r.stderr, not expected, r.stderr)


@test
def function_templates_without_their_return_type():
    if not shutil.which("c++"):
        skip("no c++")
    Path(ROOM.name, "t.cc").write_text("""
namespace json { struct S { int v; template<class T> operator T() const { return T(v); } template<class T> bool operator<(T x) const { return v < x; } };
template<class T> T tm(T x) { return x; } template<class T> decltype(auto) da(T &x) { return (x); } template<class T> int (*fp(T))(char) { return nullptr; } }
int json_not(int x) { return x; }
int main() { json::S s{1}; int x = 1; long q = s; json::tm(1); json::da(x); json::fp(1); return json_not(!(s < 3)) + (int)q - 1; }
""")
    sh("c++", "-std=c++14", "-O0", "-finstrument-functions", "t.cc", "-o", "t", *LINK, "-ltare-functions", "-ltare")
    conversion, tm, da, fp, less = all_json = ["json::S::operator long<long>() const", "int json::tm<int>(int)", "decltype(auto) json::da<int>(int&)",
                                               "int (*json::fp<int>(int))(char)", "bool json::S::operator< <int>(int) const"]
    for chosen, expected in (("json::*", all_json), ("json::tm<int>(int)", [tm]), ("json::tm<int>", [tm]), ("int json::tm<int>(int)", [tm]),
                             ("json::da<*", [da]), ("json::fp<int>", [fp]), ("json::S::*", [conversion, less]), ("json::*,!json::S::*", [tm, da, fp])):
        sh(TARE, "regions", "-q", "-e", "none", "-o", "t.tare", "--", "./t", env={**ENV, "TARE_FUNCTIONS": chosen})
        equal(words("t.tare"), [" ".join(f"{n}( {n})" for n in expected)], chosen)
    sh(TARE, "regions", "-q", "-e", "none", "-o", "t.tare", "--", "./t", env={**ENV, "TARE_FUNCTIONS": "*,!json::*"})
    true("json::" not in words("t.tare")[0] and "json_not(int)" in words("t.tare")[0], words("t.tare")[0])


COUNTERS = """
from tare.counters import Error, Group, Reading, exact_counts
import errno, os, threading
def raises(what, function, *words, **more):
    try:
        function(*words, **more)
    except what as e:
        return e
    raise AssertionError(f"no {what}")
work = lambda: sum(i * i for i in range(50_000))
e = raises(Error, Group, "nonsense")
assert e.errno == errno.ENOENT and "nonsense" in str(e), e
raises(ValueError, Group, "task-clock", cpu=0, inherit=True)
for name, value, what in (("thread", 1 << 32, ValueError), ("cpu", 1 << 32, ValueError), ("thread", 1 << 70, ValueError), ("thread", "x", TypeError),
                          ("thread", b"x", TypeError), ("cpu", "0", TypeError), ("thread", 1.5, TypeError), ("thread", None, TypeError)):
    raises(what, Group, "task-clock", **{name: value})
raises(ValueError, Group, "task-clock\\0nonsense")
group = Group("task-clock,page-faults:u")
assert group.names == ["task-clock", "page-faults:u"]
assert all(r.value in (None, 0) for r in group.read()), group.read()
with group:
    work()
    pages = bytearray(400 << 12)
    for at in range(0, len(pages), 4096):
        pages[at] = 1
first = clock, faults = group.read()
assert clock.value > 10_000 and clock.unit == "ns" and clock.quality == "counted" and clock.running_ns == clock.enabled_ns, clock
assert 400 <= faults.value < 2000 and group.count(1) == faults.value, faults
work()
assert group.read() == first, "it is stopped"
raises(IndexError, group.count, 2)
thread = Group("task-clock", inherit=True)
with thread:
    t = threading.Thread(target=work)
    t.start()
    t.join()
assert thread.read()[0].value > 10_000
if os.fork() == 0:
    e = raises(Error, group.read)
    os._exit(0 if "child" in str(e) else 1)
assert os.wait()[1] == 0, "in a child"
group.close()
group.close()
raises(ValueError, group.read)
if os.environ.get("EXACT"):
    def span():
        before = exact_counts()
        work()
        after = exact_counts()
        return {k: after[k] - before[k] for k in before}
    spans = [span() for _ in range(6)]
    assert list(spans[0])[0] == "instructions" and spans[-1]["instructions"] > 500_000, spans
    assert len(spans[0]) == int(os.environ["EXACT"]), spans[0]
    counts = [s["instructions"] for s in spans]  # the interpreter's allocator has its own state
    assert max(counts) - min(counts) < min(counts) / 100, counts
else:
    assert raises(Error, exact_counts).errno == errno.ENOTSUP
print("counted")
"""


@of_each_module
def python_counters():
    program = Path(ROOM.name, "counters.py")
    program.write_text(COUNTERS)
    env = {k: v for k, v in ENV.items() if k != "TARE_LIBRARY"}
    equal(sh(sys.executable, str(program)).stdout, "counted\n", "natively")
    r = sh(TARE, "stat", "--engine", "exact", "-e", "exact/loads/", "-o", os.devnull, "--", sys.executable, str(program),
           env={**ENV, "EXACT": "18", "PYTHONHASHSEED": "0"}, status=None)
    if "exact engine" in r.stderr and r.returncode == 125:
        skip("no exact engine here")
    equal((r.returncode, r.stdout), (0, "counted\n"), r.stderr)
    without = sh(sys.executable, "-c", "from tare.counters import Group\ntry: Group('task-clock')\nexcept OSError as e: print(e.errno, e)",
                 env={**env, "LD_LIBRARY_PATH": ROOM.name})
    true(without.stdout.startswith("2 ") or not without.stdout, f"without libtare: {without.stdout}")


@test
def python_by_pip():
    copy, target = Path(ROOM.name, "source"), Path(ROOM.name, "site")
    able = "import setuptools, pip, wheel; exit(int(setuptools.__version__.split('.')[0]) < 61)"
    own = next((p for p in (sys.executable, "/usr/bin/python3") if os.path.exists(p) and not subprocess.run([p, "-c", able], capture_output=True).returncode), None)
    if not own:
        skip("needs pip, wheel, and setuptools 61 or later")
    shutil.copytree(f"{TOP}/bindings/python", copy)
    sh(own, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--no-deps", "--disable-pip-version-check", "--root-user-action=ignore",
       "--target", str(target), str(copy))
    r = sh(own, "-c", "import tare, tare.counters; print(tare.__file__, tare.counters.Group('task-clock').names)", env={**ENV, "PYTHONPATH": str(target)})
    equal(r.stdout, f"{target}/tare/__init__.py ['task-clock']\n", r.stderr)
    true((target / "tare/py.typed").exists(), "its types are known")


@test
def rust():
    if not shutil.which("cargo"):
        skip("no cargo (the Debian package of that name)")
    env = {**ENV, "CARGO_TARGET_DIR": os.path.join(ROOM.name, "rust"), "TARE_TEST_FILE": os.path.join(ROOM.name, "rust.tare")}
    sh("cargo", "test", "--offline", "--quiet", "--manifest-path", f"{TOP}/bindings/rust/Cargo.toml", env=env)
    equal(words("rust.tare"),
          ["outer( outer( inner( inner) outer) inner( inner) outer) "
           "query,typeck,zero \ufffd in it( query,typeck,zero \ufffd in it. query,typeck,zero \ufffd in it=7 query,typeck,zero \ufffd in it) "
           "query,typeck,zero \ufffd in it<",
           "query,typeck,zero \ufffd in it> outer( inner( inner) outer)"])
    equal(ways("rust.tare"), [("Rust", 6, True), ("Rust, by label", 1, True)])
    program, = (str(p) for p in Path(ROOM.name, "rust/debug/deps").glob("counters-*") if not p.suffix)
    r = sh(TARE, "stat", "--engine", "exact", "-e", "exact/loads/", "-o", os.devnull, "--", program, "-q", "--test-threads=1", "exact",
           env={**env, "TARE_TEST_EXACT": "1"}, status=None)
    true(r.returncode == 0 and "1 passed" in r.stdout or "exact engine" in r.stderr and r.returncode == 125, r.stdout + r.stderr)


@test
def rust_programs_start():
    """A crate that depends on ours: with libtare.a in it, and with libtare.so and a build.rs as README.md has it."""
    if not shutil.which("cargo"):
        skip("no cargo (the Debian package of that name)")
    own = Path(ROOM.name, "own")
    (own / "src").mkdir(parents=True)
    (own / "Cargo.toml").write_text(f'[package]\nname = "own"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\ntare = {{ path = "{TOP}/bindings/rust" }}\n')
    (own / "src/main.rs").write_text('tare::region!(MAIN, "main");\nfn main() {\n    let _r = tare::region(&MAIN);\n}\n')
    alone = {k: v for k, v in ENV.items() if k != "LD_LIBRARY_PATH"} | {"CARGO_TARGET_DIR": os.path.join(ROOM.name, "own-target")}
    tare_pc = Path(LIBRARY).parents[2] / "meson-uninstalled"
    for shared in (False, True):
        if shared:
            readme = Path(TOP, "bindings/rust/README.md").read_text()
            (own / "build.rs").write_text(re.search(r"    fn main.*?\n    }\n", readme, re.S).group())
        packages = {"PKG_CONFIG_PATH": ROOM.name, "PKG_CONFIG_LIBDIR": ROOM.name} if shared else {"PKG_CONFIG_PATH": str(tare_pc)}
        sh("cargo", "build", "--offline", "--quiet", "--manifest-path", str(own / "Cargo.toml"), env={**alone, **packages})
        program = os.path.join(ROOM.name, "own-target/debug/own")
        needed = "libtare.so" in sh("readelf", "-d", program).stdout
        equal(needed, shared or not shutil.which("pkg-config"), "libtare.so is needed")
        sh(TARE, "regions", "-q", "-e", "none", "-o", "own.tare", "--", program, env=alone)
        equal(words("own.tare"), ["main( main)"], f"shared: {shared}")


main()
