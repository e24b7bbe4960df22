import { fault } from "../../src/core/failure/result.ts";
import { newResponseEncoder } from "../../src/api/responses/generate/encoder.ts";
import type { StreamRecord } from "../../src/core/stream/reply.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { chunk, silentUpstream } from "../support/silent_upstream.ts";
import { finish, labelsOf } from "./responses/encoded.ts";

const messages = [{ role: "user", content: "Hi" }];
const SILENCE_MS = 15_000;
const COMMENT = ": keep-alive\n\n";

function gatewayOver(type: string, api = "chat_completions"): string {
  return `
providers: {up: {type: ${type}, base_url: "http://up.test", api_key: k, timeout: 10m}}
routing: {routes: [{name: main, targets: [{provider: up, upstream_request_type: ${api}}]}]}
retry: {enabled: false}
`;
}

function event(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}

/**
 * Returns the text that the client has received after the first piece, in two silences of 15 s, and
 * after the last piece.
 */
async function readSilent(
  config: string,
  path: string,
  body: object,
  [first, last]: readonly [string, string],
) {
  const { world, post, send, end } = silentUpstream(config);
  await world.advance(1_000);
  const answering = post(path, { model: "m", stream: true, ...body });
  await send(first);
  const response = await answering;
  assertEquals(response.status, 200);
  const reader = response.body?.getReader();
  assert(reader !== undefined);
  const decoder = new TextDecoder();
  const read = async () => decoder.decode((await reader.read()).value);
  const begun = await read();
  const early = read();
  await world.advance(SILENCE_MS - 1);
  let isEarly = false;
  void early.then(() => isEarly = true);
  await world.advance(0);
  assertEquals(isEarly, false);
  await world.advance(1);
  const signs = [await early];
  const next = read();
  await world.advance(SILENCE_MS);
  signs.push(await next);
  await send(last);
  await end();
  await world.advance(1);
  let rest = "";
  for (let text = await read(); text !== ""; text = await read()) rest += text;
  await world.advance(1_000);
  assertEquals(world.waiting, 0);
  return { begun, signs, rest };
}

const CHAT = [chunk({ content: "A" }), `${chunk({}, "stop")}data: [DONE]\n\n`] as const;

const OVER_MESSAGES = [
  event("message_start", { message: { id: "msg_1", model: "m", usage: { input_tokens: 1 } } }) +
  event("content_block_start", { index: 0, content_block: { type: "text", text: "A" } }),
  event("content_block_stop", { index: 0 }) +
  event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } }) +
  event("message_stop", {}),
] as const;

Deno.test("a silent chat stream gets a comment whenever 15 s have passed, relayed and translated", async () => {
  for (const [type, pieces] of [["compat", CHAT], ["messages", OVER_MESSAGES]] as const) {
    const { begun, signs, rest } = await readSilent(
      gatewayOver(type),
      "/v1/chat/completions",
      { messages },
      pieces,
    );
    assert(begun.includes('"A"'));
    assertEquals(signs, [COMMENT, COMMENT]);
    assert(rest.endsWith("data: [DONE]\n\n"));
  }
});

Deno.test("a silent translated Responses stream gets response.in_progress whenever 15 s have passed, and its numbers have no gaps", async () => {
  for (const [type, pieces] of [["compat", CHAT], ["messages", OVER_MESSAGES]] as const) {
    const { begun, signs, rest } = await readSilent(
      gatewayOver(type),
      "/v1/responses",
      { input: "Hi" },
      pieces,
    );
    const events = (begun + signs.join("") + rest).split("\n\n").filter((text) => text !== "")
      .map((text) => JSON.parse(text.slice(text.indexOf("data: ") + 6)));
    assertEquals(events.map(({ sequence_number }) => sequence_number), [...events.keys()]);
    const alive = signs.map((text) => JSON.parse(text.slice(text.indexOf("data: ") + 6)));
    assertEquals(
      alive.map(({ type, response: { id, status } }) => [type, id, status]),
      alive.map(() => ["response.in_progress", events[0].response.id, "in_progress"]),
    );
    assertEquals(events.at(-1).type, "response.completed");
  }
});

Deno.test("a silent native Responses stream gets a comment, and the provider's events keep their bytes", async () => {
  const response = { id: "resp_1", object: "response", status: "in_progress", output: [] };
  const begun = event("response.created", { sequence_number: 4, response }) +
    event("response.output_text.delta", { sequence_number: 7, delta: "A" });
  const last = event("response.completed", {
    sequence_number: 9,
    response: { ...response, status: "completed" },
  });
  const { signs, rest, ...seen } = await readSilent(
    gatewayOver("compat", "responses"),
    "/v1/responses",
    { input: "Hi" },
    [begun, last],
  );
  assertEquals([seen.begun, ...signs, rest], [begun, COMMENT, COMMENT, last]);
});

Deno.test("no sign of life comes before the first event or after the terminal one, but while that is still stored", () => {
  for (const end of ["end", "fail"] as const) {
    const encoder = newResponseEncoder(labelsOf());
    const sent: StreamRecord[] = [];
    const send = (records: readonly StreamRecord[]) =>
      void sent.push(...encoder.number?.(records) ?? []);
    const sign = () => encoder.keepAlive?.() ?? null;
    assertEquals(sign(), null);
    const begun = encoder.push({ type: "text", delta: "A" });
    assert(begun.ok);
    assertEquals(sign(), null);
    send(begun.value);
    encoder.push(finish());
    const terminal = encoder.end();
    assert(terminal.ok);
    const alive = sign();
    assertEquals(alive?.event, "response.in_progress");
    if (alive !== null) sent.push(alive);
    const failure = fault("upstream_timeout", "No.").failure;
    send(end === "end" ? terminal.value : encoder.fail(failure));
    assertEquals(sign(), null);
    const numbers = sent.map(({ data }) => JSON.parse(data).sequence_number);
    assertEquals(numbers, [...sent.keys()]);
    const opened = sent.filter(({ event }) => event === "response.created");
    assertEquals(opened.length, 1);
  }
});
