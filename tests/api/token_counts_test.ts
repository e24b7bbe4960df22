import { isObject, type JsonObject, type JsonValue, parseJson } from "../../src/core/json/json.ts";
import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import type { CallReport } from "../../src/observe/report.ts";
import { createApp } from "../../src/server/app.ts";
import { configOf } from "../config/parse.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { answers, MESSAGES } from "../support/chat_call.ts";
import { responseOf, streamOf } from "../support/native_gateway.ts";
import { sentenceOf } from "../support/sentence.ts";
import { type Reply, stateCalls } from "../support/state_call.ts";
import { scriptedWorld } from "../support/world.ts";

const CONFIG = `
providers:
  compat: {type: compat, base_url: "http://compat"}
  messages: {type: messages, base_url: "http://messages", api_key: k}
  local: {type: local, base_url: "http://local"}
  responses: {type: compat, base_url: "http://responses"}
routing:
  routes:
    - name: main
      targets:
        - {provider: compat}
        - {provider: messages}
        - {provider: local}
        - {provider: responses, upstream_request_type: responses}
pricing:
  compat/m: {input: 1, output: 1}
retry: {enabled: false}
`;

/** The counts that an upstream sends; one that is undefined is absent. */
interface Counts {
  readonly input?: JsonValue;
  readonly output?: JsonValue;
  /** Of the input, read from a cache. */
  readonly cached?: JsonValue;
}

type Wire = "compat" | "messages" | "local" | "responses";

const WIRES: readonly Wire[] = ["compat", "messages", "local", "responses"];

function sse(events: readonly JsonObject[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

/** Returns the response "Hi" in the upstream's protocol, with these counts. */
function responseText(wire: Wire, stream: boolean, { input, output, cached }: Counts): string {
  switch (wire) {
    case "compat": {
      const details = cached === undefined
        ? {}
        : { prompt_tokens_details: { cached_tokens: cached } };
      const usage = { prompt_tokens: input, completion_tokens: output, ...details };
      const about = { id: "chatcmpl-1", created: 1, model: "m" };
      const choice = { index: 0, finish_reason: "stop" };
      const message = { role: "assistant", content: "Hi" };
      if (!stream) {
        const object = "chat.completion";
        return JSON.stringify({ ...about, object, choices: [{ ...choice, message }], usage });
      }
      const chunk = { ...about, object: "chat.completion.chunk" };
      return sse([
        { ...chunk, choices: [{ ...choice, delta: message, finish_reason: null }] },
        { ...chunk, choices: [{ ...choice, delta: {} }] },
        { ...chunk, choices: [], usage },
      ]) + "data: [DONE]\n\n";
    }
    case "messages": {
      const before = { input_tokens: input, cache_read_input_tokens: cached };
      const after = { output_tokens: output };
      const about = { id: "msg_1", type: "message", role: "assistant", model: "m" };
      const content = { type: "text", text: "Hi" };
      const stop = { stop_reason: "end_turn" };
      if (!stream) {
        return JSON.stringify({
          ...about,
          content: [content],
          ...stop,
          usage: { ...before, ...after },
        });
      }
      return sse([
        { type: "message_start", message: { ...about, content: [], usage: before } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: stop, usage: after },
        { type: "message_stop" },
      ]);
    }
    case "local": {
      const message = { role: "assistant", content: "Hi" };
      const counts = {
        prompt_eval_count: input,
        eval_count: output,
        prompt_eval_cached_count: cached,
      };
      const first = stream ? `${JSON.stringify({ model: "m", message, done: false })}\n` : "";
      const last = { model: "m", message, done: true, done_reason: "stop", ...counts };
      return `${first}${JSON.stringify(last)}\n`;
    }
    case "responses": {
      const details = cached === undefined
        ? {}
        : { input_tokens_details: { cached_tokens: cached } };
      const usage = { input_tokens: input, output_tokens: output, ...details } as JsonObject;
      return stream
        ? streamOf("resp_1", { usage })
        : JSON.stringify(responseOf("resp_1", { usage }));
    }
  }
}

type Api = "chat" | "responses";

interface SentRequest {
  readonly answer: Reply;
  readonly report: Readonly<CallReport> | undefined;
}

/** Asks the API of a gateway whose upstream sends these counts. */
async function requests(
  api: Api,
  wire: Wire,
  stream: boolean,
  counts: Counts,
): Promise<SentRequest> {
  const world = scriptedWorld({ fetch: () => answers(200, responseText(wire, stream, counts)) });
  const reports: Readonly<CallReport>[] = [];
  const gateway = newGateway(compile(configOf(CONFIG), 1), world, [
    (report) => void reports.push(report),
  ]);
  const calls = stateCalls(createApp(gateway));
  const model = `${wire}/m`;
  const more = stream && api === "chat" ? { stream_options: { include_usage: true } } : {};
  const answer = api === "chat"
    ? await calls.post("/chat/completions", { model, ...MESSAGES, stream, ...more })
    : await calls.post("/responses", { model, input: "Hi", stream });
  return { answer, report: reports[0] };
}

/**
 * The usage in the whole answer or in the last event that has one; undefined where there is none.
 */
function usageIn({ text, json }: Reply, stream: boolean): unknown {
  if (!stream) return json.usage;
  const events = text.split("\n").filter((line) => line.startsWith("data: {"))
    .map((line) => parseJson(line.slice("data: ".length))).filter(isObject);
  const responses = events.map(({ response }) => response).filter(isObject);
  return (responses.at(-1) ?? events.at(-1))?.usage;
}

for (const wire of WIRES) {
  for (const stream of [false, true]) {
    const how = `${wire}, ${stream ? "streamed" : "whole"}`;

    Deno.test(`counts that are null are no usage: ${how}`, async () => {
      for (const counts of [{ input: null, output: null, cached: null }, {}]) {
        for (const api of ["chat", "responses"] as const) {
          const { answer, report } = await requests(api, wire, stream, counts);
          assertEquals(answer.status, 200, answer.text);
          assertEquals([report?.failure, report?.usage, report?.cost], [null, null, null]);
          const usage = usageIn(answer, stream);
          // What comes from a provider that speaks the client's protocol is handed on as it came.
          if (wire !== (api === "chat" ? "compat" : "responses")) {
            assertEquals(usage, api === "chat" ? (stream ? null : undefined) : null);
          } else assert(isObject(usage));
        }
      }
    });

    Deno.test(`a count that is absent stays absent, and a response has no usage then: ${how}`, async () => {
      // The local runtime leaves out a count that is zero.
      if (wire === "local") {
        const { answer } = await requests("responses", wire, stream, { output: 4 });
        assertEquals((usageIn(answer, stream) as JsonObject).total_tokens, 4);
        return;
      }
      for (
        const counts of [{ input: null, output: 4 }, { output: 4 }, { input: 4, output: null }]
      ) {
        const isInput = counts.input === 4;
        const { answer, report } = await requests("chat", wire, stream, counts);
        const usage = usageIn(answer, stream);
        assert(isObject(usage), answer.text);
        const [there, absent] = isInput
          ? ["prompt_tokens", "completion_tokens"]
          : ["completion_tokens", "prompt_tokens"];
        assertEquals([usage[there], usage[absent] ?? null, "total_tokens" in usage], [
          4,
          null,
          false,
        ]);
        if (wire !== "compat") assertEquals(absent in usage, false);
        assertEquals([report?.usage?.input, report?.usage?.output], isInput ? [4, 0] : [0, 4]);
        if (wire === "compat") assertEquals(report?.cost, 4 / 1_000_000);
        if (wire === "responses") continue;
        const response = await requests("responses", wire, stream, counts);
        assertEquals(usageIn(response.answer, stream), null);
      }
    });

    Deno.test(`a count that is negative, beyond a billion or no number is absent: ${how}`, async () => {
      for (const invalid of [-500, 1_000_000_001, 1e308, "500"]) {
        for (const counts of [{ input: 4, output: invalid }, { input: invalid, output: 4 }]) {
          const { report } = await requests("chat", wire, stream, counts);
          const isInput = counts.input === 4;
          assertEquals(report?.usage?.unknown, isInput ? "output" : "input");
          assertEquals([report?.usage?.input, report?.usage?.output], isInput ? [4, 0] : [0, 4]);
        }
      }
      const most = { input: 4, output: 1_000_000_000 };
      const { report } = await requests("chat", wire, stream, most);
      assertEquals([report?.usage?.output, report?.usage?.unknown], [most.output, undefined]);
    });

    Deno.test(`a token count with a fraction is an invalid response: ${how}`, async () => {
      const whole = { input: 5, output: 4, cached: 1 };
      for (const counts of [{ input: 1.5 }, { output: 0.5 }, { cached: 0.1 }]) {
        for (const api of ["chat", "responses"] as const) {
          const { answer, report } = await requests(api, wire, stream, { ...whole, ...counts });
          assertEquals<unknown>(report?.failure?.kind, "invalid_upstream_response");
          assertMatch(sentenceOf(report?.failure), /no whole number/);
          // This provider sends the text and the token counts in one event.
          const isFirst = wire === "responses" && api === "chat";
          if (!stream || isFirst) {
            assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"]);
          } else if (api === "chat") {
            assertMatch(answer.text, /upstream_stream_error.*\n\ndata: \[DONE\]/);
          } else assertMatch(answer.text, /event: response\.failed\n.*\n\n$/);
        }
      }
    });
  }
}

Deno.test("counts that are written with a fraction of nothing are whole", async () => {
  for (const wire of WIRES) {
    const text = responseText(wire, false, { input: 5, output: 4 }).replace(":5", ":5.0").replace(
      ":4",
      ":4e0",
    );
    const world = scriptedWorld({ fetch: () => answers(200, text) });
    const calls = stateCalls(createApp(newGateway(compile(configOf(CONFIG), 1), world, [])));
    const answer = await calls.post("/chat/completions", { model: `${wire}/m`, ...MESSAGES });
    const { usage } = answer.json;
    assert(isObject(usage), answer.text);
    assertEquals([usage.prompt_tokens, usage.completion_tokens], [5, 4]);
  }
});

Deno.test("times and prices next to the counts may have fractions", async () => {
  const text = responseText("compat", false, { input: 5, output: 4 })
    .replace('"usage":{', '"usage":{"cost":0.25,"queue_time":0.1,"cost_details":{"upstream":0.5},');
  const world = scriptedWorld({ fetch: () => answers(200, text) });
  const calls = stateCalls(createApp(newGateway(compile(configOf(CONFIG), 1), world, [])));
  for (
    const [path, body] of [["/chat/completions", MESSAGES], ["/responses", { input: "x" }]] as const
  ) {
    assertEquals((await calls.post(path, { model: "compat/m", ...body })).status, 200);
  }
});

Deno.test("a fraction of a cached token is an invalid response also where DeepSeek names it", async () => {
  const text = responseText("compat", false, { input: 5, output: 4 })
    .replace('"usage":{', '"usage":{"prompt_cache_hit_tokens":1.5,');
  const world = scriptedWorld({ fetch: () => answers(200, text) });
  const calls = stateCalls(createApp(newGateway(compile(configOf(CONFIG), 1), world, [])));
  const answer = await calls.post("/chat/completions", { model: "compat/m", ...MESSAGES });
  assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"]);
});

Deno.test("embeddings with a fraction of a token are an invalid response", async () => {
  const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
  const whole = {
    object: "list",
    model: "m",
    data,
    usage: { prompt_tokens: 1.5, total_tokens: 2 },
  };
  const local = { embeddings: [[0.5]], prompt_eval_count: 1.5 };
  for (const [wire, body] of [["compat", whole], ["local", local]] as const) {
    const world = scriptedWorld({ fetch: () => answers(200, body) });
    const calls = stateCalls(createApp(newGateway(compile(configOf(CONFIG), 1), world, [])));
    const answer = await calls.post("/embeddings", { model: `${wire}/m`, input: "x" });
    assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"]);
  }
});
