import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assertEquals } from "../../../support/assert.ts";
import { CREATED, DELTA, delta, failureIn, lifecycle, relayed, sse } from "./native_stream.ts";

/** Asserts that a stream is delivered unchanged and complete. */
async function assertPasses(text: string, expected?: string): Promise<void> {
  const answer = await relayed(text, expected === undefined ? {} : { expected });
  assertEquals(answer.refused, null);
  assertEquals([answer.text, answer.broken], [text, null]);
}

Deno.test("each terminal event ends a stream, and cancelled has two spellings", async () => {
  for (const type of ["completed", "incomplete", "failed", "cancelled", "canceled"]) {
    await assertPasses(CREATED + DELTA + sse(lifecycle(`response.${type}`, 2)));
  }
  const mixed = lifecycle("response.cancelled", 2, { status: "canceled" });
  await assertPasses(CREATED + DELTA + sse(mixed));
});

Deno.test("no record after the first terminal event is delivered", async () => {
  const end = sse(lifecycle("response.incomplete", 2));
  const rest = [delta(3), lifecycle("response.completed", 4), lifecycle("response.incomplete", 2)]
    .map((event) => sse(event)).join("");
  for (const readSize of [1, 7, 10_000]) {
    const answer = await relayed(`${CREATED}${DELTA}${end}${rest}data: [DONE]\n\n`, { readSize });
    assertEquals([answer.text, answer.broken], [CREATED + DELTA + end, null]);
    assertEquals<unknown>(answer.outcome?.resource?.status, "incomplete");
  }
});

Deno.test("a terminal event alone is a valid stream", async () => {
  for (const type of ["response.completed", "response.failed"]) {
    await assertPasses(sse(lifecycle(type, 0)));
  }
});

Deno.test("sequence numbers may begin above zero and have gaps", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  await assertPasses(sse(delta(7)) + sse(delta(9)) + sse(lifecycle("response.completed", most)));
});

Deno.test("events without record name or ID and of unknown types are accepted", async () => {
  const events: JsonObject[] = [
    delta(1, { response_id: null, response: null }),
    { type: "response.of.tomorrow", sequence_number: 2, response: "resp_1" },
    { type: "keepalive", sequence_number: 3 },
    { type: "toString", sequence_number: 4, response_id: "resp_1" },
    lifecycle("response.completed", 5, { object: undefined }),
  ];
  await assertPasses(CREATED + events.map((event) => sse(event, null)).join(""));
});

Deno.test("the record name of an event that is not terminal is ignored", async () => {
  await assertPasses(sse(delta(0), "message") + sse(lifecycle("response.completed", 1)));
});

Deno.test("a stream must have the requested response ID", async () => {
  const end = sse(lifecycle("response.completed", 9));
  await assertPasses(sse(delta(8)) + end, "resp_1");
  const first = await relayed(CREATED + DELTA + end, { expected: "resp_2" });
  assertEquals(first.refused?.kind, "invalid_upstream_response");
  const late = await relayed(DELTA + end, { expected: "resp_2" });
  assertEquals(late.text.slice(0, DELTA.length), DELTA);
  assertEquals<unknown>(failureIn(late.text.slice(DELTA.length), 2).id, "resp_2");
});

Deno.test("the outcome holds the terminal resource and its usage, numbers in their original text", async () => {
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 31,
  };
  const response = { usage, service_tier: "flex", temperature: 77 };
  const end = sse(lifecycle("response.completed", 2, response)).replace("77", "1.0");
  const { outcome } = await relayed(CREATED + DELTA + end);
  assertEquals(outcome?.usage, {
    input: 10,
    output: 20,
    total: 31,
    cached: 4,
    cacheWrite: 3,
    reasoning: 5,
    serviceTier: "flex",
  });
  assertEquals(
    JSON.stringify(outcome?.resource),
    /"response":(.*)\}\n\n$/.exec(end)?.[1],
  );
});

Deno.test("a terminal event without usage leaves the usage unknown", async () => {
  const { outcome } = await relayed(DELTA + sse(lifecycle("response.completed", 2)));
  assertEquals(outcome?.usage, null);
});
