import { testGateway } from "./gateway.ts";
import { type ScriptedWorld, scriptedWorld } from "./world.ts";
import { chunk } from "./silent_upstream.ts";

/** Returns an SSE event of the Messages and Responses APIs. */
export function event(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

const RESPONSE = { id: "resp_native", object: "response", status: "in_progress", output: [] };

const PLACE = { item_id: "msg_1", output_index: 0, content_index: 0 };

function partOf(text: string) {
  return { type: "output_text", text, annotations: [] };
}

const ITEM = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [partOf("Alpha beta")],
};

/** Pieces of a short stream by the type of its provider; the first one has no content. */
export const STREAMS: Readonly<Record<string, readonly string[]>> = {
  compat: [
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "Alpha" }),
    chunk({ content: " beta" }),
    chunk({}, "stop"),
    "data: [DONE]\n\n",
  ],
  messages: [
    event("message_start", {
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Alpha" } }),
    event("content_block_delta", { index: 0, delta: { type: "text_delta", text: " beta" } }),
    event("content_block_stop", { index: 0 }) +
    event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }),
    event("message_stop", {}),
  ],
  responses: [
    event("response.created", { sequence_number: 0, response: RESPONSE }),
    event("response.output_item.added", {
      sequence_number: 1,
      output_index: 0,
      item: { ...ITEM, status: "in_progress", content: [] },
    }) +
    event("response.content_part.added", { sequence_number: 2, ...PLACE, part: partOf("") }),
    event("response.output_text.delta", { sequence_number: 3, ...PLACE, delta: "Alpha" }),
    event("response.output_text.delta", { sequence_number: 4, ...PLACE, delta: " beta" }),
    event("response.output_text.done", { sequence_number: 5, ...PLACE, text: "Alpha beta" }) +
    event("response.content_part.done", {
      sequence_number: 6,
      ...PLACE,
      part: partOf("Alpha beta"),
    }) +
    event("response.output_item.done", { sequence_number: 7, output_index: 0, item: ITEM }),
    event("response.completed", {
      sequence_number: 9,
      response: { ...RESPONSE, status: "completed", output: [ITEM] },
    }),
  ],
};

/** Reaction of an upstream to one request; `signal` ends with the attempt. */
export type Answer = (world: ScriptedWorld, signal: AbortSignal) => Promise<Response>;

/** Resolves after this time of the world, or rejects when the attempt is cancelled. */
export function later(world: ScriptedWorld, signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = world.after(ms, resolve);
    signal.addEventListener("abort", () => {
      cancel();
      reject(signal.reason);
    });
  });
}

const encoder = new TextEncoder();

/** Answers with these pieces of a stream: after `ms`, and each `gapMs` after the one before. */
export function streaming(pieces: readonly string[], ms: number, gapMs = 0, isCut = false): Answer {
  return async (world, signal) => {
    await later(world, signal, ms);
    const left = [...pieces];
    let isFirst = true;
    const body = new ReadableStream({
      type: "bytes",
      start: (controller) =>
        signal.addEventListener("abort", () => controller.error(signal.reason)),
      async pull(controller) {
        if (!isFirst && gapMs > 0) await later(world, signal, gapMs).catch(() => {});
        isFirst = false;
        if (signal.aborted) return;
        const next = left.shift();
        if (next !== undefined) return controller.enqueue(encoder.encode(next));
        if (isCut) return controller.error(new TypeError("cut"));
        controller.close();
        controller.byobRequest?.respond(0);
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

function bytesOf(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    type: "bytes",
    start(controller) {
      controller.enqueue(encoder.encode(text));
      controller.close();
    },
  });
}

/** Answers with an error after `ms`. */
export function failing(status: number, ms: number, error: object = { message: "No." }): Answer {
  return async (world, signal) => {
    await later(world, signal, ms);
    const text = JSON.stringify({ type: "error", error });
    const headers = { "content-type": "application/json" };
    return new Response(bytesOf(text), { status, headers });
  };
}

/** Never answers. */
export const silent: Answer = (world, signal) =>
  later(world, signal, 1e9).then(() => new Response());

/** A target of the route: the API of its requests, and what it does, request by request. */
export interface LateTarget {
  readonly type: "compat" | "messages" | "responses";
  readonly answers: readonly Answer[];
}

const CAPABILITIES: Readonly<Record<LateTarget["type"], string>> = {
  compat: "",
  messages: ", capabilities: {structured_outputs: true}",
  responses: ", capabilities: {background_responses: true}",
};

/** A gateway with one route to the provider `up0`, whose fallbacks are `up1` and so on. */
export function lateGateway(targets: readonly LateTarget[], route: string, more = "") {
  const asked: string[] = [];
  const aborted: string[] = [];
  const place = ({ type }: LateTarget, at: number) =>
    `{provider: up${at}${type === "responses" ? ", upstream_request_type: responses" : ""}}`;
  const [first = "", ...others] = targets.map(place);
  const config = `
providers:
${
    targets.map(({ type }, at) =>
      `  up${at}: {type: ${
        type === "messages" ? type : "compat"
      }, base_url: "http://up${at}.test", api_key: k-secret-${at}, timeout: 3m${
        CAPABILITIES[type]
      }}`
    ).join("\n")
  }
routing:
  routes:
    - {name: main, ${route}, targets: [${first}], fallback: [${others.join(", ")}]}
${more.includes("retry:") ? "" : "retry: {enabled: false}"}
${more}
`;
  const world: ScriptedWorld = scriptedWorld({
    fetch: async (url, { signal }) => {
      const { hostname } = new URL(url);
      const at = Number(/\d+/.exec(hostname)?.[0]);
      const count = asked.filter((one) => one === `up${at}`).length;
      asked.push(`up${at}`);
      const { answers = [] } = targets[at] ?? {};
      const answer = answers[Math.min(count, answers.length - 1)];
      if (answer === undefined || !(signal instanceof AbortSignal)) {
        throw new TypeError("no answer");
      }
      signal.addEventListener("abort", () => aborted.push(`up${at}`));
      return await answer(world, signal);
    },
  });
  const gateway = testGateway(config, world);
  return { ...gateway, world, asked, aborted };
}

/** The request of each client API for a stream. */
export const REQUESTS = {
  chat: { path: "/v1/chat/completions", body: { messages: [{ role: "user", content: "Hi" }] } },
  messages: {
    path: "/v1/messages",
    body: { max_tokens: 99, messages: [{ role: "user", content: "Hi" }] },
  },
  responses: { path: "/v1/responses", body: { input: "Hi", store: false } },
} as const;

/** Response that a client receives: the head, and each write with the second of its arrival. */
export interface Late {
  readonly status: number;
  readonly headers: Headers;
  /** Seconds until the head. */
  readonly headAt: number;
  readonly writes: readonly (readonly [at: number, text: string])[];
  readonly text: string;
}

type Gateway = ReturnType<typeof lateGateway>;

/** Sends a request for a stream, and lets time pass until its end. */
export async function callLate(
  { app, world }: Pick<Gateway, "app" | "world">,
  api: keyof typeof REQUESTS,
  { maxMs = 1_000_000, stepMs = 1_000, members = {}, headers: sent = {} }: {
    readonly maxMs?: number;
    readonly stepMs?: number;
    readonly members?: object;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Late> {
  const { path, body } = REQUESTS[api];
  const request = new Request(`http://localhost${path}`, {
    method: "POST",
    headers: sent,
    body: JSON.stringify({ model: "asked", stream: true, ...body, ...members }),
  });
  const began = world.now();
  const seconds = () => Math.round(world.now() - began) / 1000;
  const writes: [number, string][] = [];
  const head = Promise.withResolvers<{ readonly response: Response; readonly headAt: number }>();
  let isOver = false;
  async function run() {
    const response = await app(request);
    head.resolve({ response, headAt: seconds() });
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) writes.push([seconds(), decoder.decode(bytes)]);
    isOver = true;
  }
  const running = run();
  for (let passed = 0; !isOver && passed < maxMs; passed += stepMs) await world.advance(stepMs);
  await running;
  await world.advance(1_000);
  const { response, headAt } = await head.promise;
  const text = writes.map(([, written]) => written).join("");
  return { status: response.status, headers: response.headers, headAt, writes, text };
}
