import { configFile } from "../../cli/test_terminal.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startUpstream } from "../../support/upstream.ts";
import { chatInit } from "../chat_call.ts";
import { ENDINGS } from "../cut_body.ts";
import { assertRefused, delivered } from "../delivered.ts";
import { type Recording, RECORDINGS } from "../recordings.ts";
import { crowdSize, openCrowd, WITH_DESCRIPTORS } from "./crowd.ts";
import { type Running, started } from "./running.ts";

function configOver(upstream: string, server = ""): string {
  const providers = RECORDINGS.map(({ wire }) =>
    `  ${wire}: {type: ${wire}, base_url: "${upstream}/${wire}", api_key: sk-upstream}`
  );
  return `
server: {port: 0${server}}
providers:
${providers.join("\n")}
routing:
  routes: [{name: main, targets: [{provider: compat}, {provider: messages}, {provider: local}]}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;
}

/** Rests of the connections of a crowd in turn: most of those of browsers are opened in advance. */
const RESTS = [...Array<"silent">(8).fill("silent"), "unfinished", "served"] as const;

/** Plays the scenario that the message of a request names. */
function startFaults() {
  return startUpstream(async (exchange) => {
    const { body, path } = exchange.request;
    const recording = RECORDINGS.find(({ wire }) => path.startsWith(`/${wire}/`));
    assert(recording !== undefined, path);
    const [, scenario, bytes = "", ending] = /"(status|cut|hang) (\d+) (\w+)"/.exec(body) ?? [];
    if (scenario === "status") return await exchange.json(Number(bytes), { error: "broken" });
    await exchange.head(200, { "content-type": recording.contentType });
    if (bytes !== "0") await exchange.chunk(recording.bytes.subarray(0, Number(bytes)));
    if (scenario === "hang") return await exchange.closedByPeer;
    if (ending === "clean") await exchange.finish();
    else exchange.reset();
  });
}

async function call(url: string, { wire }: Recording, scenario: string, signal?: AbortSignal) {
  const messages = [{ role: "user", content: scenario }];
  const init = chatInit({ model: `${wire}/m`, stream: true, messages });
  return await fetch(
    `${url}/v1/chat/completions`,
    signal === undefined ? init : { ...init, signal },
  );
}

/** Streams that end at some bytes come out as what they are worth. */
async function checkCuts(url: string, recording: Recording) {
  for (const ending of ENDINGS) {
    const [usableFrom, completeFrom] = recording[ending];
    const { length } = recording.bytes;
    for (const at of [0, usableFrom - 1, usableFrom, completeFrom - 1, completeFrom, length]) {
      const response = await call(url, recording, `cut ${at} ${ending}`);
      const text = await response.text();
      const where = `${recording.wire} ${at} ${ending}`;
      if (response.status !== 200) {
        assertRefused(
          response.status,
          text,
          502,
          /^(invalid_upstream_response|upstream_unreachable)$/,
        );
        // A reset may overtake what was sent before it.
        assert(at < usableFrom || ending === "reset", where);
        continue;
      }
      const isComplete = delivered(text).ending === "complete";
      assert(at >= usableFrom, where);
      assert(at >= completeFrom || !isComplete, where);
      assert(at < completeFrom || isComplete || ending === "reset", where);
    }
  }
}

async function checkErrors(url: string, recording: Recording) {
  for (const [status, expected] of [[400, 400], [429, 429], [500, 500], [503, 503]] as const) {
    const response = await call(url, recording, `status ${status} json`);
    assertEquals(response.status, expected, await response.text());
  }
}

async function checkLeaving(
  url: string,
  recording: Recording,
  upstream: ReturnType<typeof startFaults>,
) {
  const client = new AbortController();
  const scenario = `hang ${recording.bytes.length - 1} open`;
  const response = await call(url, recording, scenario, client.signal);
  assertEquals(response.status, 200);
  let exchange = await upstream.next();
  while (!exchange.request.body.includes(scenario)) exchange = await upstream.next();
  client.abort();
  await exchange.closedByPeer;
  await response.body?.cancel().catch(() => {});
}

/**
 * Checks the health of the gateway over and over while the task runs. Returns how often it was
 * well.
 */
async function healthDuring(url: string, task: Promise<void>): Promise<number> {
  let isRunning = true;
  let checks = 0;
  async function ask() {
    while (isRunning) {
      const response = await fetch(`${url}/health`);
      assertMatch(await response.text(), /"status":"ok"/);
      checks++;
    }
  }
  await Promise.all([task.finally(() => isRunning = false), ask()]);
  return checks;
}

async function serving(upstream: string, server = ""): Promise<Running> {
  using file = await configFile(configOver(upstream, server));
  return await started(["--config", file.path], {}, WITH_DESCRIPTORS);
}

Deno.test("with 10,000 idle connections, each fault still gives its result", async () => {
  const count = await crowdSize(10_000);
  await using upstream = startFaults();
  await using gateway = await serving(upstream.url);
  await using crowd = await openCrowd(gateway.url, count, RESTS);
  const faults = async () => {
    for (const recording of RECORDINGS) {
      await checkLeaving(gateway.url, recording, upstream);
      await checkCuts(gateway.url, recording);
      await checkErrors(gateway.url, recording);
    }
  };
  assert(await healthDuring(gateway.url, faults()) > 0);
  assertEquals(await crowd.ended(), 0);
});

Deno.test("1,000 connections that are idle for the idle timeout are all closed", async () => {
  const count = await crowdSize(1_000);
  await using gateway = await serving("http://127.0.0.1:1", ", idle_timeout: 2s");
  await using crowd = await openCrowd(gateway.url, count, ["silent", "served"]);
  await crowd.allClosed;
  assertEquals(await crowd.ended(), count);
  assertMatch(await (await fetch(`${gateway.url}/health`)).text(), /"status":"ok"/);
});
