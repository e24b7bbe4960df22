import { importLitellm } from "../../src/import/litellm.ts";
import { PREFIXES } from "../../src/import/litellm_prefixes.ts";
import type { ReportLine } from "../../src/import/report.ts";
import { installPeer } from "../bench/peers/install.ts";
import { type Case, CASES } from "./cases.ts";
import { type Arrived, startUpstream, type Upstream } from "./upstream.ts";

// Sends the same requests to LiteLLM and to this gateway, with the file of each case and the file
// that `switchyard import` makes of it, and compares what arrives at one upstream and what the
// client gets. LiteLLM is installed into the user's cache folder, or named by --litellm.
//
//     ./scripts/deno run -A scripts/import/compare.ts [--litellm PROGRAM] [PART OF A CASE'S NAME]

/** Time in which a gateway must listen: LiteLLM loads for some seconds. */
const START_TIMEOUT_MS = 90_000;
const POLL_MS = 200;

const MASTER_KEY = "sk-a-strong-master-key-of-the-comparison-0123456789";

/** Prints the address of each prefix in LiteLLM. */
const PREFIX_SCRIPT = `
import json, sys, litellm
print(json.dumps({p: litellm.get_llm_provider(p + "/x")[3] for p in json.loads(sys.argv[1])}))
`;

/** Result of one request. */
interface Outcome {
  readonly status: number;
  readonly arrived: readonly Arrived[];
  /** Whether a stream came to its end. */
  readonly isWhole: boolean;
}

const [program, part] = await argumentsOf(Deno.args);
const main = new URL("../../main.ts", import.meta.url).pathname;
await using upstream = startUpstream();
let failures = 0;
for (const line of await comparedPrefixes()) console.log(line);
for (const one of CASES.filter(({ name }) => name.includes(part))) {
  for (const line of await compared(one, upstream)) console.log(line);
}
console.log(
  failures === 0 ? "No difference that is not in the report." : `${failures} differences.`,
);
Deno.exitCode = failures === 0 ? 0 : 1;

async function argumentsOf(args: readonly string[]): Promise<readonly [string, string]> {
  const at = args.indexOf("--litellm");
  const rest = args.filter((_, index) => at < 0 || index !== at && index !== at + 1);
  return [at < 0 ? await installPeer("litellm") : args[at + 1] ?? "", rest[0] ?? ""];
}

/** Compares the addresses of prefixes; LiteLLM has those of some providers in other places. */
async function comparedPrefixes(): Promise<readonly string[]> {
  const fixed = [...PREFIXES].flatMap(([name, { kind, address }]) =>
    kind === "openai" && address !== undefined ? [[name, address] as const] : []
  );
  const python = program.replace(/litellm$/, "python");
  const names = JSON.stringify(fixed.map(([name]) => name));
  const { stdout } = await new Deno.Command(python, {
    args: ["-c", PREFIX_SCRIPT, names],
    env: { LITELLM_LOCAL_MODEL_COST_MAP: "True" },
    stderr: "null",
  }).output();
  const theirs: Readonly<Record<string, string | null>> = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const others = fixed.filter(([name, address]) => (theirs[name] ?? address) !== address);
  failures += others.length;
  const known = fixed.filter(([name]) => theirs[name] !== null).length;
  return [
    ...others.map(([name, address]) => `DIFFERS  prefix ${name}: ${theirs[name]}, here ${address}`),
    `${known} of ${fixed.length} prefixes have an address in LiteLLM, ${others.length} another one.`,
  ];
}

async function compared(one: Case, upstream: Upstream): Promise<readonly string[]> {
  const source = one.file.replaceAll("AT/", `${upstream.address}/`);
  const result = importLitellm(source, {});
  if (!result.ok || result.imported.file === null) {
    failures++;
    return [`FAILS    ${one.name}: the file is not imported`];
  }
  const { file, lines } = result.imported;
  const secrets = secretsIn(source, lines);
  const theirs = await outcomesOf(one, upstream, (port, folder) => {
    Deno.writeTextFileSync(`${folder}/config.yaml`, source);
    return new Deno.Command(program, {
      args: [
        "--config",
        `${folder}/config.yaml`,
        "--host",
        "127.0.0.1",
        "--port",
        `${port}`,
        "--telemetry",
        "False",
      ],
      env: {
        LITELLM_LOCAL_MODEL_COST_MAP: "True",
        LITELLM_MASTER_KEY: MASTER_KEY,
        LITELLM_LOG: "ERROR",
      },
      stdout: "null",
      stderr: "null",
    });
  });
  const ours = await outcomesOf(one, upstream, (port, folder) => {
    Deno.writeTextFileSync(`${folder}/config.yaml`, file.replace(/port: \d+/, `port: ${port}`));
    return new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", main, "--config", `${folder}/config.yaml`],
      env: secrets,
      stdout: "null",
      stderr: "null",
    });
  });
  return one.requests.map(({ model, stream }, index) => {
    const [left, right] = [outcomeText(theirs[index]), outcomeText(ours[index])];
    const name = `${one.name} (${model}${stream === true ? ", stream" : ""})`;
    if (left === right) return `same     ${name}: ${right}`;
    const reported = lines.find(({ path, status }) => path === one.differs && status !== "carried");
    const isReported = reported !== undefined || one.differs === "routing";
    if (!isReported) failures++;
    return `${
      isReported ? "reported" : "DIFFERS "
    } ${name}\n  LiteLLM  ${left}\n  ours     ${right}`;
  });
}

/** Returns the variables of the imported file with their secrets: the report names each entry. */
function secretsIn(
  source: string,
  lines: readonly ReportLine[],
): Readonly<Record<string, string>> {
  const keys = source.match(/sk-upstream-[a-z0-9-]+/g) ?? [];
  return Object.fromEntries(lines.flatMap(({ path, note }) => {
    const [, entry] = /^model_list\[(\d+)\]\.litellm_params\.api_key$/.exec(path) ?? [];
    const [, variable] = /set (\w+) to it/.exec(note) ?? [];
    return entry === undefined || variable === undefined
      ? []
      : [[variable, keys[Number(entry)] ?? ""]];
  }));
}

async function outcomesOf(
  { requests }: Case,
  upstream: Upstream,
  command: (port: number, folder: string) => Deno.Command,
): Promise<readonly Outcome[]> {
  const folder = await Deno.makeTempDir();
  const port = freePort();
  await using child = command(port, folder).spawn();
  await listening(port);
  upstream.take();
  const outcomes: Outcome[] = [];
  for (const { model, stream = false } of requests) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${MASTER_KEY}` },
      body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Say hello." }] }),
    });
    const text = await response.text().catch(() => "");
    const isWhole = !stream || text.includes("[DONE]") && !text.includes('"error"');
    outcomes.push({ status: response.status, arrived: upstream.take(), isWhole });
  }
  child.kill("SIGTERM");
  await child.status;
  await Deno.remove(folder, { recursive: true });
  return outcomes;
}

function outcomeText(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "nothing";
  const { status, arrived, isWhole } = outcome;
  const calls = arrived.map(({ at, path, model, key, parameters }) =>
    `${at} ${path} ${model} ${key.slice(0, 24)} ${parameters}`.trim()
  );
  return `${status}${isWhole ? "" : ", broken off"}: ${calls.join(" → ") || "no call"}`;
}

function freePort(): number {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  listener.close();
  return port;
}

async function listening(port: number): Promise<void> {
  const end = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < end) {
    const isOpen = await fetch(`http://127.0.0.1:${port}/health/liveliness`)
      .then((response) => response.body?.cancel().then(() => true) ?? true, () => false);
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error("the gateway does not listen");
}
