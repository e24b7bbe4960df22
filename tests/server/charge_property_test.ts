import fc from "fast-check";
import type { JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { keys, limitedGateway } from "../support/limited_gateway.ts";

/** How one attempt ends at the provider. Each but `refused` and those that are left reports its counts. */
const ENDS = ["complete", "unusable", "status", "refused", "promise"] as const;

/** How a stream ends, or in which phase its client leaves. */
const STREAM_ENDS = [
  "complete",
  "unusable",
  "cut",
  "left waiting",
  "left after content",
  "left after finish",
  "left after counts",
] as const;

interface Attempt {
  readonly end: (typeof ENDS)[number];
  readonly input: number;
  readonly output: number;
}

interface Script {
  readonly type: "compat" | "messages";
  readonly attempts: readonly Attempt[];
  /** Null for a request without a stream. */
  readonly stream: (typeof STREAM_ENDS)[number] | null;
}

const count = fc.integer({ min: 1, max: 1_000 });
const script: fc.Arbitrary<Script> = fc.record({
  type: fc.constantFrom("compat", "messages"),
  attempts: fc.array(
    fc.record({ end: fc.constantFrom(...ENDS), input: count, output: count }),
    { maxLength: 7 },
  ),
  stream: fc.option(fc.constantFrom(...STREAM_ENDS)),
});

const LIMITS = keys({ ada: { budgets: [{ per: "day", usd: 1_000, tokens: 1_000_000_000 }] } });

function providers(type: Script["type"]): string {
  const settings = (name: string, keys: string) =>
    `${name}: {type: ${type}, base_url: "http://${name}", ${keys}}`;
  return `
providers:
  ${settings("up", "api_keys: [{name: a, value: sk-a}, {name: b, value: sk-b}], key_rest: 1ms")}
  ${settings("spare", "api_key: sk-c")}
routing: {routes: [{name: main, targets: [{provider: up}], fallback: [{provider: spare, model: m}]}]}
retry: {enabled: true, max_attempts: 2, initial_delay: 1ms}
circuit_breaker: {enabled: false}
pricing: {"up/*": {input: 2, output: 1}, "spare/*": {input: 2, output: 1}}
`;
}

function usageOf(type: Script["type"], { input, output }: Attempt): JsonObject {
  return type === "messages"
    ? { input_tokens: input, output_tokens: output }
    : { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
}

/** A whole response of the provider, which has broken its promise of a JSON object or is unusable if wanted. */
function wholeOf(type: Script["type"], attempt: Attempt): JsonObject {
  const usage = usageOf(type, attempt);
  const text = attempt.end === "promise" ? "no object" : "{}";
  if (type === "messages") {
    const content = attempt.end === "unusable" ? 5 : [{ type: "text", text }];
    const head = { id: "msg_1", type: "message", role: "assistant", model: "m" };
    return { ...head, content, stop_reason: "end_turn", stop_sequence: null, usage };
  }
  const message = { role: "assistant", content: text };
  const choices = attempt.end === "unusable" ? [] : [{ index: 0, message, finish_reason: "stop" }];
  return { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage };
}

function chunk(delta: JsonObject, finish: string | null, more: JsonObject = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  return `data: ${JSON.stringify({ ...head, choices, ...more })}\n\n`;
}

/** A stream that a test writes record by record. */
function writtenStream(signal: AbortSignal | null | undefined) {
  let controller: ReadableByteStreamController | null = null;
  const body = new ReadableStream({
    type: "bytes",
    start(given) {
      controller = given;
      signal?.addEventListener("abort", () => given.error(new TypeError("aborted")));
    },
  });
  return {
    response: new Response(body, { headers: { "content-type": "text/event-stream" } }),
    write: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    close() {
      controller?.close();
      // A waiting BYOB read ends only when its request is answered.
      controller?.byobRequest?.respond(0);
    },
    fail: () => controller?.error(new TypeError("cut")),
  };
}

/** Runs a script; returns what was charged, and what the provider has reported. */
async function run({ type, attempts, stream }: Script) {
  const waiting = [...attempts];
  const reported = { tokens: 0, nanoUsd: 0 };
  const report = ({ input, output }: Attempt) => {
    reported.tokens += input + output;
    reported.nanoUsd += (2 * input + output) * 1_000;
  };
  let last: (ReturnType<typeof writtenStream> & { readonly attempt: Attempt }) | null = null;
  const gateway = limitedGateway(LIMITS, {
    providers: providers(type),
    async fetch(_url, { body, signal }) {
      await new Response(body ?? "").text();
      const attempt = waiting.shift() ?? { end: "complete", input: 7, output: 5 };
      if (attempt.end === "refused") {
        return answers(429, { error: { message: "no", code: "limit" } });
      }
      if (attempt.end === "status") {
        report(attempt);
        return answers(503, { error: { message: "no" }, usage: usageOf(type, attempt) });
      }
      if (stream === null) {
        report(attempt);
        return answers(200, wholeOf(type, attempt));
      }
      last = { ...writtenStream(signal), attempt };
      if (stream === "left waiting") {
        await new Promise((_, reject) => signal?.addEventListener("abort", reject));
      }
      return last.response;
    },
  });
  const client = new AbortController();
  const json = { response_format: { type: "json_object" } };
  const responding = gateway.app(
    new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { host: "localhost", ...keyOf("ada") },
      body: JSON.stringify({
        model: "m",
        messages: [{ role: "user", content: "Hi" }],
        ...stream === null ? json : { stream: true },
      }),
      signal: client.signal,
    }),
  );
  await gateway.world.advance(1_000);
  if (stream === null) await (await responding).text();
  else if (last !== null) await finish(last);
  else await (await responding).text();
  const found = await gateway.gateway.state.quotas.spent(["key ada"]);
  const windows = found.ok ? found.value.get("key ada") : undefined;
  const at = (unit: string) => windows?.get(`${unit} d:2023-11-14`) ?? 0;
  return {
    charged: { tokens: at("tokens"), nanoUsd: at("usd") },
    reported,
    isEstimated: gateway.reports.at(-1)?.estimated === true,
    isStreamed: last !== null,
  };

  /** Writes the stream of an attempt, and reads it or leaves as the script says. */
  async function finish({ attempt, write, close, fail }: NonNullable<typeof last>) {
    const usage = { usage: usageOf("compat", attempt) };
    const counts = `data: ${JSON.stringify({ id: "c", choices: [], ...usage })}\n\n`;
    if (stream === "left waiting") {
      client.abort();
      await (await responding).text();
      return;
    }
    if (stream === "unusable") {
      // Ends without a finish, and the next attempts with it.
      for (let streams = 0, one = last; one !== null && streams < 4; streams += 1) {
        report(one.attempt);
        one.write(
          `data: ${
            JSON.stringify({ id: "c", choices: [], usage: usageOf("compat", one.attempt) })
          }\n\n`,
        );
        one.write("data: [DONE]\n\n");
        one.close();
        const before: unknown = one;
        await gateway.world.advance(1_000);
        one = last === before ? null : last;
      }
      await (await responding).text();
      return;
    }
    write(chunk({ role: "assistant", content: "delivered" }, null));
    const response = await responding;
    const reader = response.body?.getReader();
    await reader?.read();
    if (stream === "cut") {
      report(attempt);
      write(chunk({ content: "more" }, null, usage));
      await gateway.world.advance(0);
      fail();
    } else if (stream !== "left after content") {
      write(chunk({}, "stop"));
      await gateway.world.advance(0);
      if (stream === "left after finish") {
        const leaving = reader?.cancel();
        await gateway.world.advance(0);
        report(attempt);
        write(counts + "data: [DONE]\n\n");
        close();
        await gateway.world.advance(0);
        await leaving;
        return;
      }
      report(attempt);
      write(counts);
      await gateway.world.advance(0);
      if (stream === "complete") {
        write("data: [DONE]\n\n");
        close();
      }
    }
    if (stream?.startsWith("left")) await reader?.cancel();
    else for (let end = false; !end && reader !== undefined;) end = (await reader.read()).done;
    await gateway.world.advance(0);
  }
}

Deno.test("what the provider reports is charged, of every attempt, however the call ends", async () => {
  await fc.assert(
    fc.asyncProperty(script, async (drawn) => {
      // The stream of these tests is one of Chat Completions.
      const type = drawn.stream === null ? drawn.type : "compat";
      const { charged, reported, isEstimated, isStreamed } = await run({ ...drawn, type });
      const isSilent = drawn.stream === "left waiting" || drawn.stream === "left after content";
      if (isSilent && isStreamed) {
        assert(isEstimated && charged.tokens > reported.tokens, "an estimate is added");
        assert(charged.nanoUsd > reported.nanoUsd);
      } else assertEquals(charged, reported);
    }),
    { numRuns: 200 },
  );
});
