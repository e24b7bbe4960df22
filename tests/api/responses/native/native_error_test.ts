import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assert, assertEquals, assertMatch } from "../../../support/assert.ts";
import { answers } from "../../../support/chat_call.ts";
import { sentenceOf } from "../../../support/sentence.ts";
import { create } from "../../../support/socket_client.ts";
import { nativeConfig, streamOf } from "../../../support/native_gateway.ts";
import { socketGateway } from "../../../support/socket_gateway.ts";
import {
  assertBroken,
  CREATED,
  DELTA,
  delta,
  keepalive,
  lifecycle,
  relayed,
  sse,
} from "./native_stream.ts";

/** An error event with a number, as it may stand inside a stream. */
function errorEvent(sequence: number, members: JsonObject = {}): string {
  const fields = { code: "boom", message: "No.", param: null, ...members };
  return `event: error\ndata: ${
    JSON.stringify({ type: "error", ...fields, sequence_number: sequence })
  }\n\n`;
}

const OWN_FAILURE = sse(
  lifecycle("response.failed", 9, { error: { code: "boom", message: "No." } }),
);

Deno.test("an error event followed by the provider's own failure is forwarded unchanged", async () => {
  const between = [
    "",
    ": still here\n\n",
    "\n\n: one\r\n\r\n: two\n\n",
    keepalive(3) + ": ping\n\n" + keepalive(4),
  ];
  const errors = [
    errorEvent(2),
    errorEvent(2, { error: { type: "t", message: "No." } }),
    errorEvent(2, { response_id: "resp_1" }).replace("event: error\n", ""),
  ];
  for (const error of errors) {
    for (const gap of between) {
      for (const readSize of [1, 7, undefined]) {
        const stream = CREATED + DELTA + error + gap + OWN_FAILURE;
        const sent = readSize === undefined ? stream : { readSize };
        const answer = await relayed(stream, typeof sent === "string" ? {} : sent);
        assertEquals([answer.refused, answer.broken, answer.text], [null, null, stream]);
        assertEquals<unknown>(answer.outcome?.resource?.status, "failed");
      }
    }
  }
});

Deno.test("an error event followed by any other event ends the stream with one failure", async () => {
  const behind = [
    "",
    ": still here\n\n",
    keepalive(3),
    sse(delta(3)),
    errorEvent(3) + OWN_FAILURE,
    "data: [DONE]\n\n",
    "data: []\n\n",
    sse(lifecycle("response.completed", 3)),
    sse(lifecycle("response.incomplete", 3)),
    sse(lifecycle("response.failed", 2)),
    sse(lifecycle("response.failed", 3, { id: "resp_2" })),
    sse(lifecycle("response.failed", 3), "response.completed"),
    sse(lifecycle("response.failed", 3, { status: "completed" })),
    keepalive(9) + OWN_FAILURE,
    ": x\n\n".repeat(1024) + OWN_FAILURE,
    `: ${"x".repeat(3 * 1024 * 1024)}\n\n`.repeat(2) + OWN_FAILURE,
  ];
  for (const rest of behind) {
    for (const ending of ["clean", "reset"] as const) {
      const answer = await relayed(CREATED + DELTA + errorEvent(2) + rest, { ending });
      assertBroken(answer, CREATED + DELTA);
    }
  }
  const { broken } = await relayed(CREATED + errorEvent(1) + sse(delta(2)));
  assert(broken?.kind === "upstream_unavailable");
});

Deno.test("a malformed error event ends the stream, whatever follows", async () => {
  const unfit = [
    errorEvent(2).replace(',"sequence_number":2', ""),
    errorEvent(1),
    errorEvent(2).replace('"type":"error"', '"type":"response.error"'),
    errorEvent(2, { response_id: "resp_2" }),
    sse({ error: { message: "No." }, sequence_number: 2 }, "error"),
  ];
  for (const error of unfit) {
    assertBroken(await relayed(CREATED + DELTA + error + OWN_FAILURE), CREATED + DELTA);
  }
});

Deno.test("an error event at the start is a failed attempt, even if the provider's own failure follows", async () => {
  for (const before of ["", ": hello\n\n", keepalive(0)]) {
    const { refused, text } = await relayed(before + errorEvent(1) + OWN_FAILURE);
    assertEquals([refused?.kind, text], ["upstream_unavailable", ""]);
  }
});

Deno.test("a fractional token count makes the response invalid", async () => {
  const usages: JsonObject[] = [
    { input_tokens: 1.5 },
    { output_tokens: 0.1 },
    { total_tokens: 2.5 },
    { input_tokens_details: { cached_tokens: 1.5 } },
    { input_tokens_details: { cache_write_tokens: 1.5 } },
    { output_tokens_details: { reasoning_tokens: 1.5 } },
  ];
  for (const fraction of usages) {
    const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3, ...fraction };
    const answer = await relayed(
      CREATED + DELTA + sse(lifecycle("response.completed", 2, { usage })),
    );
    assertBroken(answer, CREATED + DELTA);
    assertMatch(sentenceOf(answer.broken), /no whole number/);
  }
});

Deno.test("a local conversation is set in the failure, not in the error event before it", async () => {
  const stream = CREATED + errorEvent(1) + OWN_FAILURE;
  const { text } = await relayed(stream, { conversation: "conv_1" });
  assertEquals(
    text,
    stream.replaceAll('"response":{', '"response":{"conversation":{"id":"conv_1"},'),
  );
});

Deno.test("a socket receives only the failure, because an error event would end the turn before it", async () => {
  let turn = 0;
  const broken = CREATED + DELTA + errorEvent(2) + OWN_FAILURE;
  await using served = socketGateway(nativeConfig({ up: {} }), {
    fetch: () => answers(200, ++turn === 1 ? broken : streamOf("resp_2")),
  });
  await using client = await served.open();
  const { events, response } = await client.turn(create());
  const types = ["response.created", "response.output_text.delta", "response.failed"];
  assertEquals<unknown>(events.map(({ type }) => type), types);
  assertEquals<unknown>(response.error, { code: "boom", message: "No." });
  assertEquals((await client.turn(create())).id, "resp_2");
});
