// Bundles src/ and wraps it as the page around the data: build.mjs PAGE.c [PAGE.html]
// PAGE.c holds three pieces for src/output/page.c, which puts a title behind the first and the data behind the second.
// The policy allows the one script and the one style by their hashes, and nothing else: no network, no eval, no inline handler.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const { outputFiles } = await esbuild.build({
  entryPoints: [join(here, "src/main.js")],
  bundle: true, minify: true, write: false, format: "iife", target: "es2020", charset: "ascii",
  legalComments: "eof", outdir: "out", logLevel: "warning",
});
const file = (ending) => outputFiles.find((f) => f.path.endsWith(ending)).text.trim();
const script = file(".js"), style = file(".css");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
if (/<\/(script|style)/i.test(script + style)) throw new Error("the bundle would end its own element");

const pieces = {
  page_head: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>`,
  page_middle: `</title>
<style>${style}</style>
</head>
<body>
<noscript>This page shows its numbers by a script of its own, which this browser does not run. They stand in it as JSON, too.</noscript>
<main id="page"></main>
<script type="application/json" id="data">
`,
  page_tail: `
</script>
<script>${script}</script>
</body>
</html>
`,
};

const quote = (text) => {
  const bytes = Buffer.from(text);
  const lines = [];
  for (let i = 0; i < bytes.length; i += 24) lines.push("\t" + [...bytes.subarray(i, i + 24)].join(",") + ",");
  return lines.join("\n");
};
const [, , to, example] = process.argv;
writeFileSync(to, "/* Made by web/build.mjs. */\n#include \"output/page_parts.h\"\n\n" + Object.entries(pieces).map(([name, text]) =>
  `const unsigned char ${name}[] = {\n${quote(text)}\n};\nconst size_t ${name}_size = sizeof(${name});\n`).join("\n"));
if (example) {
  const data = readFileSync(0, "utf8").replaceAll("<", "\\u003c");
  writeFileSync(example, pieces.page_head + "tare" + pieces.page_middle + data + pieces.page_tail);
}
