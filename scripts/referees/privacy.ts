import { pythonWith, runCommand } from "../tools/package_cache.ts";
import { reportRun } from "./runs.ts";
import { freePort } from "./system.ts";

/** The package of the referee, a benchmark of gateways that keep personal data from providers. */
const REFEREE = "pii-leak-benchmark==0.6.0";

/** Port of the provider that the referee plays. */
const CAPTURE_PORT = freePort();

/** Number of runs with values of their own. */
const SEED_COUNT = 5;

/** Time in which the gateway must listen. */
const START_TIMEOUT_MS = 60_000, POLL_INTERVAL_MS = 100;

/** Configuration without circuit breaker: streams of the referee have no finish reason. */
const CONFIG = `
privacy:
  rules:
    - {name: mail, find: [email], action: replace}
    - {name: cards, find: [card], action: replace}
    - {name: phones, find: [phone], action: replace}
    - {name: ids, find: [us_ssn], action: replace}
    - {name: keys, find: [aws_key, github_token, slack_token], action: replace}
    - {name: strangers, find: [email, card, phone, us_ssn], phase: response, action: mask}
  policies:
    - {name: outside, rules: [mail, cards, phones, ids, keys, strangers]}
  default: outside
circuit_breaker: {enabled: false}
retry: {enabled: false}
providers:
  up: {type: compat, base_url: "http://127.0.0.1:${CAPTURE_PORT}/v1"}
routing:
  routes: [{name: main, targets: [{provider: up}]}]
`;

/** Runs both versions of the referee against a gateway from the sources; throws if one fails. */
async function run(): Promise<void> {
  const python = await pythonWith([REFEREE]);
  const folder = await Deno.makeTempDir({ prefix: "switchyard-referee-" });
  try {
    await using gateway = await startGateway(folder);
    const referee = python.replace(/python$/, "pii-leak-benchmark");
    const target = ["--target-base-url", `${gateway.url}/v1`, "--capture-port", `${CAPTURE_PORT}`];
    await runCommand(referee, ["selfcheck", ...target, "--json-out", `${folder}/self.json`]);
    for (let seed = 1; seed <= SEED_COUNT; seed++) {
      await runCommand(referee, [
        "ci",
        ...target,
        "--seed",
        `${seed}`,
        "--out",
        `${folder}/${seed}`,
      ]);
    }
    const summary = `${folder}/v2.json`;
    await runCommand(`${referee}-v2`, [
      "--gateway-url",
      `${gateway.url}/v1/chat/completions`,
      "--upstream-port",
      `${CAPTURE_PORT}`,
      "--model",
      "gpt-4o",
      "--out",
      `${folder}/v2`,
      "--only",
      "passthrough",
      "--exhaustive-splits",
      "--partial-emission",
      "--json-out",
      summary,
    ]);
    // The parts of values that are delivered one after the other have a report of their own.
    const partial = await Deno.readTextFile(`${folder}/v2/passthrough.partial-emission.json`);
    const problem = secondProblem(await Deno.readTextFile(summary), partial);
    if (problem !== null) throw new Error(`The second version: ${problem}`);
    await reportRun("privacy", [REFEREE], `${SEED_COUNT + 2} runs, no leak`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Returns both reports of the referee's second version if one is no pass; null otherwise. */
export function secondProblem(summary: string, partial: string): string | null {
  const { rows }: { rows: readonly { outcome: string }[] } = JSON.parse(summary);
  const { passed }: { passed: boolean } = JSON.parse(partial);
  const isRight = rows.length > 0 && rows.every(({ outcome }) => outcome === "pass") && passed;
  return isRight ? null : `${summary}\n${partial}`;
}

/** Starts a gateway on a free port and waits until it listens. */
async function startGateway(folder: string): Promise<{ readonly url: string } & AsyncDisposable> {
  const config = `${folder}/config.yaml`;
  await Deno.writeTextFile(config, CONFIG);
  const port = freePort();
  const main = new URL("../../main.ts", import.meta.url).pathname;
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", main, "--config", config, "--port", `${port}`],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `http://127.0.0.1:${port}`;
  const started = Date.now();
  while (
    !await fetch(`${url}/health`).then((head) => head.body?.cancel().then(() => true), () => false)
  ) {
    if (Date.now() - started > START_TIMEOUT_MS) throw new Error("The gateway does not listen.");
    await new Promise((go) => setTimeout(go, POLL_INTERVAL_MS));
  }
  return {
    url,
    async [Symbol.asyncDispose]() {
      process.kill();
      await process.status;
    },
  };
}

if (import.meta.main) await run();
