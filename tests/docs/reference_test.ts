import { GENERATED_PAGES, GENERATED_PARTS } from "../../scripts/tools/docs.ts";
import { clientApis } from "../../src/api/registry.ts";
import { load } from "../../src/config/load.ts";
import { FAULTS, REFUSALS } from "../../src/core/failure/failure.ts";
import { FAULT_DOCS } from "../../scripts/tools/reference/fault_docs.ts";
import { REFUSAL_DOCS } from "../../src/core/failure/refusal_docs.ts";
import { accessFields } from "../../src/observe/access_log.ts";
import { configFile, ran } from "../cli/test_terminal.ts";
import { declaredMetrics } from "../observe/exposition.ts";
import { reportOf } from "../observe/reports.ts";
import { assert, assertEquals } from "../support/assert.ts";
import {
  blocks,
  blocksIn,
  configIn,
  isManifest,
  pages,
  pageText,
  quoted,
  tableIn,
  variable,
} from "./pages.ts";

const ROOT = new URL("../../", import.meta.url);

function source(path: string): Promise<string> {
  return Deno.readTextFile(new URL(`src/${path}`, ROOT));
}

Deno.test("every generated page of the reference is the one that the code gives", async () => {
  for (const [path, write] of Object.entries(GENERATED_PAGES)) {
    assertEquals(pageText(path), await write(), `${path}: run scripts/tools/docs.ts`);
  }
  for (const [path, complete] of Object.entries(GENERATED_PARTS)) {
    assertEquals(pageText(path), complete(pageText(path)), `${path}: run scripts/tools/docs.ts`);
  }
});

Deno.test("no code of a page has an escaped character, which would be copied with it", () => {
  const found = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/`[^`\n]+`/g)].filter(([code]) => /&(?:lt|gt|amp);/.test(code))
      .map(([code]) => `${path}: ${code}`)
  );
  assertEquals(found, []);
});

Deno.test("every example message of the errors page is one that the code can write", async () => {
  const sources: string[] = [];
  for (const path of sourcePaths(new URL("src/", ROOT))) {
    if (!/\/(refusal|fault)_docs\.ts$/.test(path.pathname)) {
      sources.push(await Deno.readTextFile(path));
    }
  }
  const joined = sources.join("\n").replace(/["`] \+\s*["`]/g, "");
  const literals = joined.matchAll(/"([^"\n]{12,})"|`([^`\n]{8,})`/g);
  const patterns = [...literals].map(([, text = "", template = text]) => template)
    .filter((template) => /^[^$]/.test(template) && template.replace(/\$\{[^}]*\}/g, "").length > 3)
    .map((template) => {
      const written = template.split(/\$\{[^}]*\}/).map(RegExp.escape).join(".+");
      // A rule is written behind the path of the field.
      return new RegExp(`^(?:${written}|'[^']+' ${written}\\.)$`);
    });
  const examples = [...Object.values(REFUSAL_DOCS), ...Object.values(FAULT_DOCS)]
    .map(({ example }) => example);
  assert(examples.length > 40);
  assertEquals(examples.filter((text) => !patterns.some((one) => one.test(text))), []);
});

function sourcePaths(folder: URL): readonly URL[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? sourcePaths(new URL(`${name}/`, folder)) : [new URL(name, folder)]
  );
}

Deno.test("every block of the documentation is of a kind that is run or compared", () => {
  // Those for bash are run by the test of their page.
  const known = [
    "sh",
    "bash",
    "ts",
    "python",
    "yaml",
    "dockerfile",
    "ini",
    "text",
    "yml",
    "jsonc",
    "nginx",
  ];
  assert(blocks.length > 50);
  assertEquals(blocks.filter(({ language }) => !known.includes(language)), []);
  const fences = pages.flatMap(({ text }) => text.match(/^ *```/gm) ?? []);
  assertEquals(fences.length, 2 * blocks.length);
});

/** The documented file names of certificates, as files of the tests. */
const CERTIFICATES = new URL("../http_client/certificates/", import.meta.url).pathname;

Deno.test("every configuration in the documentation is valid", async () => {
  const general = configIn("docs/guide/getting-started.md#The configuration file");
  for (const { text, place } of blocksIn("yaml").filter((block) => !isManifest(block))) {
    const whole = text.includes("routing:") ? text : text + general;
    const names = whole.matchAll(/\$\{(\w+)\}/g).map(([, name = ""]) => name);
    const variables = Object.fromEntries(names.map((name) => [name, variable(name)]));
    using file = await configFile(whole.replaceAll(/(_file: )(\w+\.)/g, `$1${CERTIFICATES}$2`));
    const loaded = await load(file.path, variables);
    assertEquals(loaded.ok ? loaded.warnings : loaded.problems, [], place);
  }
});

Deno.test("the documentation names every metric that there is, and no other", async () => {
  // The part after a dot is the key of a section.
  const all = pages.map(({ text }) => text).join("\n");
  const named = new Set(all.match(/(?<!\.)\b(?:gateway|process)_[a-z_]+\b(?!\.ts)/g));
  assertEquals([...named].toSorted(), [...await declaredMetrics()].toSorted());
});

Deno.test("the reference explains every field of an access line and every value of end, and no other", async () => {
  const page = pageText("docs/reference/log-fields.md");
  const [fieldsPart = "", endsPart = ""] = page.split("\n## Values of end\n");
  const named = (part: string) => tableIn(part).map(([name = ""]) => quoted(name)[0]);
  assertEquals(named(fieldsPart), Object.keys(accessFields(reportOf())));
  const failures = await source("core/failure/failure.ts");
  const ends = /type End =((?:\s+\| "\w+")+);/.exec(failures)?.[1]?.match(/\w+/g) ?? [];
  assert(ends.length > 10);
  assertEquals(named(endsPart), [...ends]);
});

Deno.test("the reference names every endpoint, and no other", () => {
  const named = tableIn(pageText("docs/reference/endpoints.md")).flatMap(([cell = ""]) => {
    const methods: string[] = [];
    return quoted(cell).flatMap((text) => {
      const [, method = "", path = ""] = /^([A-Z]*) ?(.*)$/.exec(text) ?? [];
      if (method !== "") methods.push(method);
      return path === "" ? [] : methods.splice(0).map((one) => `${one} ${path}`);
    });
  });
  const endpoints = clientApis.flatMap((api) => [
    ...api.endpoints.map(({ method, path }) => `${method} ${path}`),
    ...(api.sockets ?? []).map(({ path }) => `GET ${path}`),
  ]);
  const plain = (text: string) => text.replace(/:\w+(?:\{[^}]*\})?|\{\w+\}/g, "{}");
  assertEquals(named.map(plain).toSorted(), endpoints.map(plain).toSorted());
});

Deno.test("the reference names every code of an error with its status, and no other", () => {
  const named = tableIn(pageText("docs/reference/errors.md")).flatMap(([status = "", codes = ""]) =>
    quoted(codes).map((code) => `${status} ${code}`)
  );
  const refused = Object.entries(REFUSALS).map(([kind, { status, code = kind }]) =>
    `${status} ${code}`
  );
  const failed = Object.entries(FAULTS).filter(([, { code }]) => code === "kind")
    .map(([kind, { status }]) => `${status} ${kind}`);
  assertEquals(named.toSorted(), [...refused, ...failed].toSorted());
});

Deno.test("the reference names every command with its options, and no other", async () => {
  const cells = tableIn(pageText("docs/reference/cli.md")).map((cells) => {
    const [cell = ""] = cells;
    const [, name = ""] = /^`switchyard ([a-z]*)/.exec(cell) ?? [];
    return { name: cell.includes("--version") ? "common" : name, text: cells.join(" ") };
  });
  const rows = new Map<string, string>();
  // A command may have further ones below its name.
  for (const { name, text } of cells) rows.set(name, `${rows.get(name) ?? ""} ${text}`);
  const { out } = await ran(["--help"]);
  const names = [
    ...new Set([...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = ""]) => name)),
  ];
  assert(names.length > 5);
  assertEquals([...rows.keys()].toSorted(), ["", "common", ...names].toSorted());
  for (const name of ["", ...names]) {
    const help = (await ran([name, "--help"].filter(Boolean))).out;
    const options = [...help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, option = ""]) => option);
    const documented = `${rows.get(name)}${rows.get("common")}`;
    assertEquals(options.filter((option) => !documented.includes(option)), [], name);
  }
});
