import {
  encodeResponse,
  newResponseEncoder,
} from "../../../../src/api/responses/generate/encoder.ts";
import type { StreamEvent } from "../../../../src/core/stream/events.ts";
import { isObject, type JsonObject } from "../../../../src/core/json/json.ts";
import { fault } from "../../../../src/core/failure/result.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { assertValid } from "../../../support/schemas.ts";
import { call, encoded, finish, labelsOf, line, readEvents, USAGE } from "../encoded.ts";
import { CASES, cited, more, reasoning, refusal, signed, text } from "../event_cases.ts";

const BROKEN = fault("upstream_idle", "The upstream fell silent.").failure;

for (const [name, events] of Object.entries(CASES)) {
  Deno.test(`the events of ${name.replaceAll("_", " ")}`, () => {
    const file = new URL(`../../../golden/response_events/${name}.txt`, import.meta.url);
    const lines = encoded(events).map(line).join("\n");
    assertEquals(`${lines}\n`, Deno.readTextFileSync(file));
  });

  Deno.test(`an unstreamed response equals the terminal response of the stream: ${name.replaceAll("_", " ")}`, () => {
    const whole = encodeResponse(events, labelsOf());
    assert(whole.ok);
    assertValid("Response", whole.value.resource);
    assertEquals<unknown>(whole.value.resource, encoded(events).at(-1)?.response);
  });

  Deno.test(`a failure at any point of ${name.replaceAll("_", " ")} gives one terminal event`, () => {
    for (let at = 0; at <= events.length; at += 1) {
      const encoder = newResponseEncoder(labelsOf());
      const before = events.slice(0, at).flatMap((event) => {
        const step = encoder.push(event);
        assert(step.ok);
        return [...step.value];
      });
      const records = readEvents([...before, ...encoder.fail(BROKEN)]);
      assertEquals<unknown>(records.map((event) => event.sequence_number), [...records.keys()]);
      assertEquals(records[0]?.type, "response.created");
      assertFailed(records);
      assertEquals([encoder.fail(BROKEN), encoder.end()], [[], { ok: true, value: [] }]);
    }
  });
}

Deno.test("a failure replaces an unsent terminal event and has its sequence number", () => {
  const hi: StreamEvent = { type: "text", delta: "Hi" };
  const finish: StreamEvent = { type: "finish", reason: "stop" };
  for (const events of [[finish], [hi, finish]]) {
    const encoder = newResponseEncoder(labelsOf());
    const before = events.flatMap((event) => {
      const step = encoder.push(event);
      return step.ok ? [...step.value] : [];
    });
    assert(encoder.end().ok);
    assertEquals(encoder.done(), true);
    const records = readEvents([...before, ...encoder.fail(BROKEN)]);
    assertEquals<unknown>(records.map((event) => event.sequence_number), [...records.keys()]);
    assertEquals(records[0]?.type, "response.created");
    assertEquals(records.at(-1)?.type, "response.failed");
    assertEquals(encoder.resource()?.status, "failed");
    assertEquals([encoder.fail(BROKEN), encoder.end()], [[], { ok: true, value: [] }]);
  }
});

/** The last event is the failure, and its output is what was begun: the open item incomplete. */
function assertFailed(records: readonly JsonObject[]): void {
  const last = records.at(-1);
  const response = isObject(last?.response) ? last.response : {};
  assertEquals(last?.type, "response.failed");
  assertEquals<unknown>(
    [response.status, response.error, response.incomplete_details, response.completed_at],
    [
      "failed",
      { code: "server_error", type: "server_error", message: "The upstream fell silent." },
      null,
      null,
    ],
  );
  const added = records.filter(({ type }) => type === "response.output_item.added");
  const done = records.flatMap(({ type, item }) =>
    type === "response.output_item.done" ? [item] : []
  );
  const output = Array.isArray(response.output) ? response.output : [];
  assertEquals(output.length, added.length);
  assertEquals(output.slice(0, done.length), done);
  for (const open of output.slice(done.length)) {
    assertEquals(isObject(open) ? open.status : null, "incomplete");
  }
}

Deno.test("hub events without content give no output event", () => {
  const encoder = newResponseEncoder(labelsOf());
  const silent: readonly StreamEvent[] = [
    { type: "start", id: "", model: "", created: 0 },
    text(""),
    refusal(""),
    reasoning(""),
    cited(0, 1),
    { type: "usage", usage: USAGE },
    finish(),
  ];
  for (const event of silent) assertEquals(encoder.push(event), { ok: true, value: [] });
  assertEquals([encoder.usage(), encoder.resource(), encoder.done()], [USAGE, null, false]);
});

Deno.test("a response without a finish reason fails, streamed or not", () => {
  const encoder = newResponseEncoder(labelsOf());
  encoder.push(text("Hi"));
  for (const end of [encoder.end(), encodeResponse([text("Hi")], labelsOf())]) {
    assert(!end.ok);
    assertEquals(end.failure.kind, "invalid_upstream_response");
  }
});

Deno.test("the last usage of the upstream is reported, and absent usage is null", () => {
  const [quiet, counted] = [[], [{ type: "usage", usage: USAGE } as const]].map((usage) => {
    const response = encoded([text("Hi"), ...usage, finish()]).at(-1)?.response;
    return isObject(response) ? response.usage : undefined;
  });
  assertEquals<unknown>(quiet, null);
  assertEquals<unknown>(counted, {
    input_tokens: 3,
    input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
    output_tokens: 40,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 43,
  });
});

Deno.test("citation indexes count from their own text part, not from the whole response", () => {
  const events = encoded([text("12345"), reasoning("x"), text("678"), cited(5, 8), finish()]);
  const [added] = events.filter(({ type }) => String(type).endsWith("annotation.added"));
  assert(isObject(added?.annotation));
  assertEquals<unknown>([added.annotation.start_index, added.annotation.end_index], [0, 3]);
});

Deno.test("a call of a namespaced function has its name and its namespace", () => {
  const tools = [{
    type: "namespace",
    name: "db",
    description: "d",
    tools: [{ type: "function", name: "get" }],
  }];
  const events = encoded([...call(0, "db__get", "{}"), finish("tool_calls")], { tools });
  const items = events.flatMap(({ item }) => isObject(item) ? [[item.namespace, item.name]] : []);
  assertEquals<unknown>(items, [["db", "get"], ["db", "get"]]);
});

Deno.test("128 tool calls are accepted and the 129th fails", () => {
  const encoder = newResponseEncoder(labelsOf());
  for (let index = 0; index < 128; index += 1) {
    for (const event of call(index, "f", "{}")) assert(encoder.push(event).ok);
  }
  assertFailure(encoder.push({ type: "tool_call", index: 128, id: "c", name: "f" }));
});

Deno.test("16 MiB of output are accepted, and one more byte fails", () => {
  const encoder = newResponseEncoder(labelsOf());
  const piece = "é".repeat(1024 * 1024);
  for (const event of [text, refusal, reasoning, text, refusal, reasoning, text]) {
    assert(encoder.push(event(piece)).ok);
  }
  assert(encoder.push({ type: "tool_call", index: 0, id: "c", name: "f" }).ok);
  assert(encoder.push(more(0, "x".repeat(2 * 1024 * 1024 - 2))).ok);
  assertFailure(encoder.push(text("x")));
});

Deno.test("very many items and parts fail long before their text reaches 16 MiB", () => {
  for (const pair of [[text, refusal], [text, reasoning]]) {
    const encoder = newResponseEncoder(labelsOf());
    let begun = 0;
    const isTaken = () => pair.every((event) => encoder.push(event("x")).ok);
    while (begun < 20_000 && isTaken()) begun += 1;
    assert(begun > 4000 && begun < 10_000, String(begun));
  }
});

Deno.test("very many events fail long before their text reaches 16 MiB", () => {
  const encoder = newResponseEncoder(labelsOf());
  let taken = 0;
  while (taken < 1_000_000 && encoder.push(text("x")).ok) taken += 1;
  assert(taken > 400_000 && taken < 600_000, String(taken));
});

function assertFailure(step: ReturnType<ReturnType<typeof newResponseEncoder>["push"]>): void {
  assert(!step.ok);
  assertEquals(step.failure.kind, "upstream_response_too_large");
}

Deno.test("arguments for a closed or unknown tool call fail; white space after the end is ignored", () => {
  const encoder = newResponseEncoder(labelsOf());
  for (const event of [...call(0, "f", "{}"), ...call(1, "g", "{")]) assert(encoder.push(event).ok);
  assertEquals(encoder.push(more(0, "\n ")), { ok: true, value: [] });
  for (const index of [0, 7]) {
    const step = encoder.push(more(index, "x"));
    assert(!step.ok);
    assertEquals(step.failure.kind, "invalid_upstream_response");
  }
});

Deno.test("signed thinking stays in one item, and the next thinking begins a new part", () => {
  const events = encoded([reasoning("A"), signed("A"), reasoning("B"), finish()]);
  const parts = events.filter(({ type }) => type === "response.content_part.added");
  assertEquals<unknown>(
    parts.map(({ output_index, content_index }) => [output_index, content_index]),
    [
      [0, 0],
      [0, 1],
    ],
  );
});

Deno.test("a whole response writes no records", () => {
  const { stringify } = JSON;
  const long = "a".repeat(1000);
  let written = 0;
  JSON.stringify = (value: unknown) => {
    const json = stringify(value);
    if (json.includes(long)) written += 1;
    return json;
  };
  try {
    assert(encodeResponse([text(long), finish()], labelsOf()).ok);
  } finally {
    JSON.stringify = stringify;
  }
  assertEquals(written, 0);
});
