import Anthropic from "@anthropic-ai/sdk";
import fc from "fast-check";
import { newMessageEncoder } from "../../src/api/messages/generate/encoder.ts";
import type { StreamEvent } from "../../src/core/stream/events.ts";
import type { StreamRecord } from "../../src/core/stream/reply.ts";
import { refuse } from "../../src/core/failure/result.ts";
import { sseText } from "../../src/formats/sse.ts";
import {
  call,
  finish,
  labelsOf,
  more,
  reasoning,
  text,
  USAGE,
  whole,
} from "../api/messages/generate/encoded.ts";
import { assert, assertEquals } from "../support/assert.ts";

const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Hi" }];
const BODY = { model: "m", max_tokens: 9, messages };

/** The records of a complete stream. */
function recordsOf(events: readonly StreamEvent[]): StreamRecord[] {
  const encoder = newMessageEncoder(labelsOf());
  return [...events.map(encoder.push), encoder.end()].flatMap((step) => {
    assert(step.ok);
    return [...step.value];
  });
}

/** A client of the SDK whose server answers with this stream. */
function clientOf(records: readonly StreamRecord[]): Anthropic {
  const headers = { "content-type": "text/event-stream", "request-id": "r-1" };
  const answer = () => Promise.resolve(new Response(sseText(records), { headers }));
  return new Anthropic({ apiKey: "k", maxRetries: 0, fetch: answer });
}

const STREAMS: readonly (readonly StreamEvent[])[] = [
  [finish()],
  [text("A"), finish()],
  [reasoning("Hm"), text("Ok "), call(0), finish("tool_calls"), { type: "usage", usage: USAGE }],
  [text("B"), call(0), call(1), more(1, '{"b"'), more(0, '{"a":1}'), more(1, ":2}"), finish()],
  [{ type: "refusal", delta: "No." }, finish("content_filter")],
];

/** The message that a whole response has, without what only the helper of the SDK adds. */
function expected(events: readonly StreamEvent[]) {
  const { content, stop_reason, stop_details, usage } = whole(events);
  return JSON.parse(JSON.stringify({ content, stop_reason, stop_details, usage }));
}

/** The same fields of a message that the SDK has put together; hidden properties are left out. */
function shown(
  { content, stop_reason, stop_details, usage }: Anthropic.Message | Anthropic.Beta.BetaMessage,
) {
  return JSON.parse(JSON.stringify({ content, stop_reason, stop_details, usage }));
}

Deno.test("the stream helpers of the Anthropic SDK put the same message together as a whole response", async () => {
  for (const events of STREAMS) {
    const records = recordsOf(events);
    const client = clientOf(records);
    assertEquals(shown(await client.messages.stream(BODY).finalMessage()), expected(events));
    assertEquals(shown(await client.beta.messages.stream(BODY).finalMessage()), expected(events));
  }
});

Deno.test("the stream parser of the Anthropic SDK reads every record", async () => {
  for (const events of STREAMS) {
    const records = recordsOf(events);
    const stream = await clientOf(records).messages.create({ ...BODY, stream: true });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    assertEquals<unknown>(types, records.map(({ event }) => event));
  }
});

Deno.test("the Anthropic SDK accepts the stream of any interleaving, and pings in it", async () => {
  const pieces = fc.array(
    fc.oneof(
      fc.string({ minLength: 1 }).map(text),
      fc.string({ minLength: 1 }).map(reasoning),
      fc.nat(2).map((index) => more(index, '{"a":1}')),
    ),
    { maxLength: 12 },
  );
  await fc.assert(
    fc.asyncProperty(pieces, async (steps) => {
      const begun = new Set<number>();
      const events = steps.flatMap((event): StreamEvent[] => {
        if (event.type !== "tool_arguments") return [event];
        if (begun.has(event.index)) return [];
        begun.add(event.index);
        return [call(event.index), event];
      });
      const ping = newMessageEncoder(labelsOf()).keepAlive?.() ?? null;
      assert(ping !== null);
      const records = recordsOf([...events, finish()]).flatMap((record) => [record, ping]);
      const message = await clientOf(records).messages.stream(BODY).finalMessage();
      const rank = (type: string) => ["thinking", "text", "tool_use"].indexOf(type);
      const content = message.content.toSorted((a, b) => rank(a.type) - rank(b.type));
      assertEquals(
        JSON.parse(JSON.stringify(content)),
        expected([...events, finish()]).content,
      );
    }),
    { numRuns: 30 },
  );
});

Deno.test("the Anthropic SDK throws the type and request ID of an error record", async () => {
  const encoder = newMessageEncoder(labelsOf());
  const begun = encoder.push(text("A"));
  assert(begun.ok);
  const { failure } = refuse("draining", "The gateway is shutting down.");
  const client = clientOf([...begun.value, ...encoder.fail(failure)]);
  const error = await client.messages.stream(BODY).finalMessage().catch((thrown: unknown) =>
    thrown
  );
  assert(error instanceof Anthropic.APIError, String(error));
  assertEquals([error.type, error.apiMessage, error.requestID], [
    "api_error",
    "The gateway is shutting down.",
    "r-1",
  ]);
});
