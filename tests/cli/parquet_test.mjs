// SPDX-License-Identifier: MIT
// The Parquet file of `tare export --accesses` read by DuckDB, a reader that is not ours: types, counts and sums against the CSV of the same
// recording and against what the recording was made of.
//
//   parquet_test.mjs TARE WEB FOLDER-OF-made_accesses.py
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [tare, web, made] = process.argv.slice(2), room = mkdtempSync(join(tmpdir(), "tare-parquet-"));
const file = (name) => join(room, name);
const run = (...words) => execFileSync(tare, words, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] });

let duckdb;
try {
  duckdb = createRequire(resolve(web, "package.json"))("@duckdb/node-api");
} catch {
  console.log("1..0 # SKIP @duckdb/node-api is not installed: npm ci in web/");
  process.exit(0);
}

// 60,000 rows, so that there are several row groups; PEBS with every field now and then absent, and SPE.
execFileSync("python3", ["-c", `
import random, sys
sys.path.insert(0, sys.argv[1])
from made_accesses import *
rng, r = random.Random(1), Recording()
r.comm(1, 1, 'a "name", with a comma')
for i in range(60000):
    op = rng.choice(("load", "load", "store", "update", "prefetch"))
    r.sample(0xffffffff81000000 if i % 50 == 0 else 0x400000 + 4 * rng.randrange(40), 1, 1 + rng.randrange(4), 1000 + i,
             rng.choice((0, 0x7f0000001000 + rng.randrange(1 << 20), 0xffff888000000000 + i)), rng.randrange(4), 1 + rng.randrange(1 << 40),
             rng.choice((0, rng.randrange(1, 60), rng.randrange(1, 1 << 20))) if op == "load" else 0,
             source(op, rng.choice((*LEVELS, None)), rng.choice((*SNOOPS, None)), rng.choice((*TLBS, None)), i % 9 == 0), rng.choice((0, rng.randrange(1, 1 << 40))), i % 50 == 0)
r.write(sys.argv[2])
s = Recording(config=0, config1=0, pmu=(9, "arm_spe_0"), cpuid="0x00000000410fd0c0", kind=IDENTIFIER | IP | TID | TIME | CPU)
s.clock_is_spe()
s.spe(b"".join(spe_record(0x401000 + 4 * (i % 7), 0x5000 + i, i % 3 == 0, latency=i % 4096, time=i if i % 5 else None, source=(None, 0, 9, 14)[i % 4]) for i in range(20000)))
s.write(sys.argv[3])`, made, file("pebs.data"), file("spe.data")]);

const db = await (await duckdb.DuckDBInstance.create(":memory:")).connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRows();
let number = 0, failed = 0;
const check = (name, got, wanted) => {
  const ok = String(got) === String(wanted);
  failed += !ok;
  if (!ok) console.log(`# ${name}: ${got}, not ${wanted}`);
  return ok;
};

const hexadecimal = new Set(["ip", "address", "physical", "target"]);
for (const recording of ["pebs", "spe"]) {
  let ok = true;
  run("export", "--accesses=parquet", "-o", file("t.parquet"), file(`${recording}.data`));
  run("export", "--accesses=csv", "-o", file("t.csv"), file(`${recording}.data`));
  const schema = await rows(`DESCRIBE SELECT * FROM '${file("t.parquet")}'`), csv = `${recording}_csv`;
  await db.run(`CREATE TABLE ${csv} AS FROM read_csv('${file("t.csv")}', header = true, all_varchar = true, nullstr = '')`);
  ok &= check(`${recording}: columns`, schema.map((c) => c[0]), (await rows(`DESCRIBE SELECT * FROM ${csv}`)).map((c) => c[0]));
  ok &= check(`${recording}: rows`, (await rows(`SELECT count(*) FROM '${file("t.parquet")}'`))[0][0], recording === "pebs" ? 60000 : 20000);
  for (const [column, type] of schema) {
    const words = /VARCHAR|BOOLEAN/.test(type), q = `"${column}"`;
    const value = words ? `${q}::VARCHAR` : `${q}::HUGEINT`;
    const text = words ? q : hexadecimal.has(column) ? `(CASE WHEN ${q} LIKE '0x%' THEN ('0x' || lpad(substr(${q}, 3), 16, '0'))::UBIGINT::HUGEINT ELSE ${q}::HUGEINT END)` : `${q}::HUGEINT`;
    const sum = (v) => words ? `list_sort(list(DISTINCT ${v}))::VARCHAR, sum(hash(${v})::HUGEINT % 1000003)` : `min(${v}), max(${v}), sum(${v})`;
    ok &= check(`${recording}: ${column} (${type})`, await rows(`SELECT count(${q}), ${sum(value)} FROM '${file("t.parquet")}'`), await rows(`SELECT count(${q}), ${sum(text)} FROM ${csv}`));
  }
  // row by row, too
  ok &= check(`${recording}: rows that differ in time, address or kind`, (await rows(`
    SELECT count(*) FROM (SELECT row_number() OVER () AS n, time_ns, kind, latency_use, latency_total FROM '${file("t.parquet")}') p
    JOIN (SELECT row_number() OVER () AS n, time_ns, kind, latency_use, latency_total FROM ${csv}) c USING (n)
    WHERE p.time_ns::VARCHAR IS DISTINCT FROM c.time_ns OR p.kind IS DISTINCT FROM c.kind OR p.latency_use::VARCHAR IS DISTINCT FROM c.latency_use
       OR p.latency_total::VARCHAR IS DISTINCT FROM c.latency_total`))[0][0], 0);
  const total = JSON.parse(run("memory", "--format", "json", "--by", "level", file(`${recording}.data`))).total, latency = recording === "pebs" ? "use" : "total";
  const [loads, stores, n, sum] = (await rows(`SELECT count(*) FILTER (kind = 'load'), count(*) FILTER (kind = 'store'), count(latency_${latency}), sum(latency_${latency}) FROM '${file("t.parquet")}'`))[0];
  ok &= check(`${recording}: tare memory's sums`, [loads, stores, n, sum], [total.loads, total.stores, total.latencies[latency].samples, total.latencies[latency].sum]);
  console.log(`${ok ? "ok" : "not ok"} ${++number} ${recording}_read_by_duckdb`);
}
console.log(`1..${number}`);
db.closeSync?.();
rmSync(room, { recursive: true });
process.exit(failed ? 1 : 0);
