import { parse, stringify } from "yaml";
import { importLitellm } from "../../src/import/litellm.ts";
import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import type { World } from "../../src/core/world.ts";
import { ENVIRONMENT, type Golden, goldens } from "../../tests/import/golden.ts";
import { socketGateway } from "../../tests/support/socket_gateway.ts";
import { sendBy } from "../../tests/support/world.ts";
import { streamOf } from "../../tests/support/pieces.ts";
import { installPeer } from "../bench/peers/install.ts";
import { runWithInput } from "../tools/run_with_input.ts";
import { DIFFERENCES } from "./differences.ts";
import { completion, message } from "./upstream.ts";

// Requests each name of each LiteLLM file in tests/golden/import from LiteLLM and from this gateway
// with what `switchyard import` makes of the file, and compares hosts, models and their order.
//
//     ./scripts/deno run -A scripts/import/fixtures.ts [PART OF A FILE'S NAME]

/** The calls of a request in their order: address of the host, and model. */
type Calls = readonly (readonly [host: string, model: string])[];

/** A request for a name, while every host responds with this status. */
interface Asked {
  readonly model: string;
  readonly kind: "chat" | "embeddings";
  readonly status: number;
  /** So often that every deployment of the name is drawn. */
  readonly times: number;
}

/** A file, and what is requested from it. */
interface File {
  readonly name: string;
  readonly source: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly requests: readonly Asked[];
}

/** Draws of a name with several deployments: the one with the least share is drawn too. */
const DRAWS_COUNT = 100;

/** Waits between attempts take a hundredth, here and in LiteLLM. */
const HASTE_RATIO = 100;

const KEY = "key-of-";
const part = Deno.args[0] ?? "";
const files = goldens.filter(({ name }) => name.startsWith("litellm_") && name.includes(part))
  .map(fileOf);
const theirs = await litellmCallss(files);
const KNOWN = DIFFERENCES.flatMap(({ cases }) => cases);
const found = new Set<string>();
let same = 0, failures = 0;
for (const file of files) {
  const ours = await outcomesOf(file);
  const left = theirs.get(file.name) ?? "LiteLLM gave no answer";
  if (typeof left === "string") {
    report(file.name, left, "read");
    continue;
  }
  for (const [index, asked] of file.requests.entries()) {
    const [one, other] = [textOf(left[index], asked), textOf(ours[index], asked)];
    if (one === other) same++;
    else report(`${file.name} ${asked.model} ${asked.status}`, one, other);
  }
}
const gone = part !== "" ? [] : KNOWN.filter((one) => !found.has(one));
for (const one of gone) console.log(`GONE     ${one}`);
console.log(
  `${files.length} files: ${same} requests equal, ${found.size} differences known, ` +
    `${failures} new, ${gone.length} gone.`,
);
Deno.exitCode = failures + gone.length === 0 ? 0 : 1;

/** Prints a difference. It is known if its name or that of its model or file is in the list. */
function report(name: string, left: string, right: string): void {
  const reason = DIFFERENCES.find(({ cases }) => cases.some((one) => matches(one, name)));
  if (reason === undefined) failures++;
  for (const one of reason?.cases ?? []) if (matches(one, name)) found.add(one);
  console.log(`${reason === undefined ? "NEW     " : "known   "} ${name}: ${reason?.reason ?? ""}`);
  console.log(`  LiteLLM  ${left}\n  ours     ${right}`);
}

function matches(one: string, name: string): boolean {
  return name === one || name.startsWith(`${one} `);
}

function fileOf({ name, source }: Golden): File {
  const result = importLitellm(source, ENVIRONMENT);
  const standIns = result.ok ? result.imported.standIns : {};
  const referred = [...source.matchAll(/os\.environ\/(\w+)|\$\{(\w+)/g)];
  const names = referred.map(([, first, second]) => first ?? second ?? "");
  const value = (one: string) => {
    const standIn = standIns[one] ?? "";
    return /BASE|^NUM$|REGION|PROJECT|HOST|PORT/.test(one) ? standIn : `${KEY}${one}`;
  };
  const environment = {
    ...Object.fromEntries([...names, ...Object.keys(standIns)].map((one) => [one, value(one)])),
    ...ENVIRONMENT,
  };
  return {
    name: name.replace(/^litellm_|\.txt$/g, ""),
    source,
    environment,
    requests: requestsOf(source),
  };
}

/** Returns the requests for every name of a source. */
function requestsOf(source: string): readonly Asked[] {
  const root: unknown = parse(source, { version: "1.1", merge: true, uniqueKeys: false });
  const top = isObject(root) ? root : {};
  const entries = Array.isArray(top.model_list) ? top.model_list.filter(isObject) : [];
  const settings = isObject(top.router_settings) ? top.router_settings : {};
  const aliases = isObject(settings.model_group_alias) ? settings.model_group_alias : {};
  const names = [
    ...entries.map(({ model_name: name }) => name),
    ...Object.keys(aliases),
  ].filter((name) => typeof name === "string").map((name) =>
    name.replace("os.environ/MAIN_NAME", "main").replace("*", "x")
  );
  const isEmbedding = (name: string) =>
    entries.some(({ model_name, model_info: info }) =>
      model_name === name && isObject(info) && info.mode === "embedding"
    );
  return [200, 500].flatMap((status) =>
    [...new Set(names)].map((model) => {
      const isOne = names.filter((name) => name === model).length === 1;
      return {
        model,
        kind: isEmbedding(model) ? "embeddings" : "chat",
        status,
        times: isOne || status !== 200 ? 1 : DRAWS_COUNT,
      };
    })
  );
}

/** Returns what LiteLLM does with each file; a text if it does not accept the file. */
async function litellmCallss(
  files: readonly File[],
): Promise<ReadonlyMap<string, readonly (Calls | string)[] | string>> {
  const program = await installPeer("litellm");
  const folder = await Deno.makeTempDir();
  const inputs = files.map(({ source, ...file }) => {
    const path = `${folder}/${file.name}.yaml`;
    Deno.writeTextFileSync(path, source);
    return { ...file, path };
  });
  const python = program.replace(/litellm$/, "python");
  const script = new URL("./litellm_calls.py", import.meta.url).pathname;
  const { stdout } = await runWithInput(python, { args: [script] }, JSON.stringify(inputs));
  await Deno.remove(folder, { recursive: true });
  const lines = stdout.trim().split("\n");
  return new Map<string, readonly (Calls | string)[] | string>(lines.map((line) => {
    const { name, outcome } = JSON.parse(line);
    if (!Array.isArray(outcome)) return [name, String(outcome.problem)];
    // The first group has the requests that succeed, in their order, each other one a failing one.
    const [served, ...failing] = outcome.map((group) =>
      Array.isArray(group) ? group : [String(group.problem)]
    );
    return [name, [...served ?? [], ...failing.flat()]];
  }));
}

/** Returns what this gateway does with what is imported of a file. */
async function outcomesOf(
  { source, environment, requests }: File,
): Promise<readonly (Calls | string)[]> {
  const result = importLitellm(source, ENVIRONMENT);
  if (!result.ok) return requests.map(() => result.problem);
  const { file } = result.imported;
  if (file === null) return requests.map(() => "nothing is imported");
  const filled = file.replaceAll(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (_, name, other) => environment[name] ?? other ?? "",
  );
  const { security: _keys, caching: _cache, state: _state, server: _server, ...config } = parse(
    filled,
  );
  // A cloud's credentials would be fetched and sign the request: its host and model need none.
  for (const provider of Object.values<Record<string, unknown>>(config.providers ?? {})) {
    if (provider.credential === undefined) continue;
    delete provider.credential;
    provider.api_key = "k";
  }
  const outcomes: Calls[] = [];
  for (const asked of requests) outcomes.push(await callsOf(stringify(config), asked));
  return outcomes;
}

async function callsOf(config: string, asked: Asked): Promise<Calls> {
  const calls: (readonly [string, string])[] = [];
  const real = newRealWorld();
  const world: World = {
    ...real,
    after: (ms, run) => real.after(ms / HASTE_RATIO, run),
    send: sendBy(async (address, { method = "GET", body = null }) => {
      const url = new URL(address);
      if (method !== "POST") return new Response("{}", { status: 404 });
      const text = await new Response(body).text();
      const sent: JsonObject = JSON.parse(text);
      const inPath = /\/(?:models|deployments)\/([^/:]+)/.exec(decodeURIComponent(url.pathname));
      calls.push([url.host, String(sent.model ?? inPath?.[1] ?? "")]);
      const answer = asked.status === 200
        ? answerOf(url.pathname, String(sent.model))
        : { error: { message: "no", type: "server_error", code: "bad" } };
      const bytes = new TextEncoder().encode(JSON.stringify(answer));
      return new Response(streamOf([bytes]), {
        status: asked.status,
        headers: { "content-type": "application/json" },
      });
    }),
  };
  await using gateway = socketGateway(config, { world });
  for (let number = 0; number < asked.times; number++) {
    const content = asked.kind === "chat"
      ? { messages: [{ role: "user", content: "Say hello." }] }
      : { input: `Hello ${number}` };
    const path = asked.kind === "chat" ? "chat/completions" : "embeddings";
    const response = await fetch(`${gateway.url}/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: asked.model, ...content }),
    });
    await response.body?.cancel();
  }
  return calls;
}

function answerOf(path: string, model: string): object {
  if (path.endsWith("/embeddings")) {
    const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
    return { object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } };
  }
  if (path.endsWith("/api/chat") || path.endsWith("/api/embed")) {
    return {
      model,
      message: { role: "assistant", content: "Hello." },
      done: true,
      embeddings: [[0.5]],
    };
  }
  return path.endsWith("/messages") || path.includes(":rawPredict")
    ? message(model)
    : completion(model);
}

/**
 * Returns an outcome as it is compared: each target once, in the order of its first call. Those of
 * one name have no order among them, nor have the keys of a target; a key is that of the source.
 */
function textOf(outcome: Calls | string | undefined, { status, times }: Asked): string {
  if (outcome === undefined || typeof outcome === "string") return outcome ?? "nothing";
  const calls = outcome.map(([host, model]) =>
    `${host.replace("localhost", "127.0.0.1")} ${model}`
  );
  const distinct = [...new Set(calls)];
  const order = status === 200 && times > 1 ? distinct.toSorted() : distinct;
  return order.join(" → ") || "no call";
}
