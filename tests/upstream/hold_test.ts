import { assert, assertEquals } from "../support/assert.ts";
import {
  callLate,
  lateGateway,
  type LateTarget,
  REQUESTS,
  silent,
  streaming,
  STREAMS,
} from "../support/late_upstreams.ts";

const APIS = ["chat", "messages", "responses"] as const;
const TYPES = ["compat", "messages", "responses"] as const;
const RETRY = "retry: {max_attempts: 1}";

function cut(type: LateTarget["type"], chars: number): LateTarget {
  const text = (STREAMS[type] ?? []).join("");
  return {
    type,
    answers: [streaming([text.slice(0, chars)].filter((one) => one !== ""), 1_000, 0, true)],
  };
}

function whole(type: LateTarget["type"], gapMs = 0): LateTarget {
  return { type, answers: [streaming(STREAMS[type] ?? [], 1_000, gapMs)] };
}

/** A stream without IDs and times, which differ from call to call. */
function comparable(text: string): string {
  return text.replaceAll(/[a-z]+_?-?[0-9a-f-]{32,36}|"created(_at)?":\d+|"completed_at":\d+/g, "");
}

Deno.test("a held stream is retried like any failed attempt, and without a candidate left the client gets one error", async () => {
  const half = (STREAMS.compat ?? []).slice(0, 2);
  const again = lateGateway(
    [{ type: "compat", answers: [streaming(half, 1_000, 0, true), ...whole("compat").answers] }],
    "hold: 30s",
    "retry: {max_attempts: 2}",
  );
  assertEquals((await callLate(again, "chat")).text.match(/Alpha/g)?.length, 1);
  assertEquals(again.asked, ["up0", "up0"]);
  const alone = lateGateway([cut("compat", 300)], "hold: 30s", RETRY);
  const { status, text, headers } = await callLate(alone, "chat");
  assertEquals([status, JSON.parse(text).error.code], [502, "upstream_unreachable"]);
  assertEquals(headers.get("x-gateway-held"), null);
});

Deno.test("a hold is released by its time, delivered at once and streamed on, with the same bytes and the mark", async () => {
  for (const type of TYPES) {
    for (const api of APIS) {
      const plain = await callLate(lateGateway([whole(type, 2_000)], "strategy: weighted"), api);
      const gateway = lateGateway([whole(type, 2_000)], "hold: 3s");
      const { headers, headAt, text, writes } = await callLate(gateway, api);
      assertEquals(comparable(text), comparable(plain.text));
      assertEquals([headers.get("x-gateway-held"), headAt], ["released", plain.headAt + 3]);
      assert(writes.length > 1);
    }
  }
});

Deno.test("a hold is released by its bytes, and a break after that breaks the stream", async () => {
  const gateway = lateGateway(
    [{ type: "compat", answers: [streaming((STREAMS.compat ?? []).slice(0, 3), 1_000, 0, true)] }],
    "hold: 30s, hold_bytes: 300",
    RETRY,
  );
  const { status, headers, text } = await callLate(gateway, "chat");
  assertEquals([status, headers.get("x-gateway-held")], [200, "released"]);
  assert(text.includes("Alpha") && text.includes('"code":"upstream_stream_error"'));
});

const LARGE = `x`.repeat(100_000);

Deno.test("held bytes count in the response memory, and without room the stream is released at once instead of the call being dropped", async () => {
  const [first = "", , ...rest] = STREAMS.compat ?? [];
  const large = (count: number) =>
    Array.from({ length: count }, () => (STREAMS.compat?.[1] ?? "").replace("Alpha", LARGE));
  const gateway = lateGateway(
    [{ type: "compat", answers: [streaming([first, ...large(9), ...rest], 1_000, 1_000)] }],
    "hold: 60s, hold_bytes: 60000000",
    "server: {max_response_memory: 500000, max_concurrent_requests: 20}",
  );
  const calls = [0, 1].map(() => callLate(gateway, "chat"));
  const ends = await Promise.all(calls);
  assertEquals(ends.map(({ status }) => status), [200, 200]);
  for (const { text } of ends) assert(text.endsWith("data: [DONE]\n\n"));
  assert(ends.some(({ headers }) => headers.get("x-gateway-held") === "released"));
  assertEquals(gateway.gateway.state.admission.responseBytes(), 0);
});

Deno.test("what a slow client has not taken of a stream released for want of memory counts again, until it is taken", async () => {
  const [first = "", piece = "", , ...rest] = STREAMS.compat ?? [];
  const large = Array.from({ length: 2 }, () => piece.replace("Alpha", LARGE.repeat(4)));
  const gateway = lateGateway(
    [{ type: "compat", answers: [streaming([first, ...large, ...rest], 1_000, 10_000)] }],
    "hold: 300s, hold_bytes: 60000000",
    "server: {max_response_memory: 5000000, max_concurrent_requests: 20}",
  );
  const { app, world, gateway: { state: { admission } } } = gateway;
  const { path, body } = REQUESTS.chat;
  const waiting = app(
    new Request(`http://localhost${path}`, {
      method: "POST",
      body: JSON.stringify({ model: "asked", stream: true, ...body }),
    }),
  );
  for (let passed = 0; passed < 12; passed++) await world.advance(1_000);
  admission.holdResponse("other", 4_550_000);
  const response = await waiting;
  assertEquals(response.headers.get("x-gateway-held"), "released");
  assertEquals(admission.responseBytes(), 4_550_000);
  await world.advance(1_000);
  // The last record of the provider is in memory too, until the next one arrives.
  const counts = () => admission.responseBytes() - 4_550_000;
  assertEquals(Math.round(counts() / LARGE.length), 8);
  const reading = response.text();
  await world.advance(1);
  assertEquals(Math.round(counts() / LARGE.length), 4);
  for (let passed = 0; passed < 60; passed++) await world.advance(1_000);
  assert((await reading).endsWith("data: [DONE]\n\n"));
  assertEquals(world.waiting, 0);
  admission.release("other");
});

Deno.test("a released stream that has ended counts no more", async () => {
  const [first = "", piece = "", , ...rest] = STREAMS.compat ?? [];
  const large = piece.replace("Alpha", LARGE.repeat(4));
  const pieces = [first, large, large + rest.join("")];
  const gateway = lateGateway(
    [{ type: "compat", answers: [streaming(pieces, 1_000, 300)] }],
    "hold: 300s, hold_bytes: 60000000",
    "server: {max_response_memory: 5000000, max_concurrent_requests: 20}",
  );
  const { world, gateway: { state: { admission } } } = gateway;
  world.after(1_400, () => {
    admission.holdResponse("other", 4_550_000);
    admission.release("other");
  });
  const { headers, text } = await callLate(gateway, "chat", { stepMs: 100 });
  assertEquals(headers.get("x-gateway-held"), "released");
  assert(text.endsWith("data: [DONE]\n\n"));
  assertEquals([admission.responseBytes(), world.waiting], [0, 0]);
});

Deno.test("many small records count with what each takes in memory, not with their bytes alone", async () => {
  const pieces = STREAMS.compat ?? [];
  const comments = ":\n\n".repeat(30_000);
  const gateway = lateGateway(
    [{
      type: "compat",
      answers: [streaming([...pieces.slice(0, 2), comments, ...pieces.slice(2)], 1_000, 10_000)],
    }],
    "hold: 300s, hold_bytes: 60000000",
  );
  const { world, gateway: { state: { admission } } } = gateway;
  const calling = callLate(gateway, "chat");
  let most = 0;
  for (let passed = 0; passed < 60; passed++) {
    await world.advance(1_000);
    most = Math.max(most, admission.responseBytes());
  }
  assert((await calling).text.endsWith("data: [DONE]\n\n"));
  assert(most > 2_000_000 && most < 4_000_000, String(most));
});

Deno.test("a held call whose client leaves is cancelled at once", async () => {
  const gateway = lateGateway(
    [{ type: "compat", answers: [streaming(STREAMS.compat ?? [], 1_000, 60_000)] }],
    "hold: 5m",
  );
  const leaving = new AbortController();
  const answering = gateway.app(
    new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify({
        model: "m",
        stream: true,
        messages: [{ role: "user", content: "Hi" }],
      }),
      signal: leaving.signal,
    }),
  );
  await gateway.world.advance(70_000);
  leaving.abort();
  await gateway.world.advance(1);
  await (await answering).body?.cancel();
  await gateway.world.advance(1);
  assertEquals(gateway.aborted, ["up0"]);
  assertEquals((await gateway.reported(1)).failure?.kind, "client_cancelled");
  assertEquals(gateway.world.waiting, 0);
});

Deno.test("a held stream with an early head gets signs of life until it is delivered, and its mark in the comment", async () => {
  for (const api of APIS) {
    for (const type of TYPES) {
      const gateway = lateGateway(
        [{ type, answers: [streaming((STREAMS[type] ?? []).slice(0, 3), 5_000, 5_000, true)] }, {
          type,
          answers: [streaming(STREAMS[type] ?? [], 20_000, 5_000)],
        }],
        "early_head: 20s, hold: 60s",
        RETRY,
      );
      const { text, writes } = await callLate(gateway, api);
      assertEquals(writes.map(([at]) => at).slice(0, 2), [20, 35]);
      assert(text.includes("x-gateway-provider=up1") && text.includes("x-gateway-held=complete"));
      assertEquals(text.match(/"Alpha"/g)?.length, 1);
      const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, one]) => Number(one));
      if (api === "responses" && type !== "responses") assertEquals(numbers, [...numbers.keys()]);
    }
  }
});

Deno.test("each attempt of a held stream is charged, also one that broke", async () => {
  const half = (STREAMS.compat ?? []).slice(0, 3);
  const gateway = lateGateway(
    [{ type: "compat", answers: [streaming(half, 1_000, 0, true)] }, whole("compat")],
    "hold: 30s",
    `${RETRY}
pricing:
  up0/m: {input: 1, output: 1000000}
  up1/m: {input: 1, output: 1000}
security: {enabled: true, api_key: {keys: [{name: a, value: client-key-0123456789}]}}`,
  );
  const { status } = await callLate(gateway, "chat", {
    members: { model: "m" },
    headers: { authorization: "Bearer client-key-0123456789" },
  });
  assertEquals(status, 200);
  const { charge, estimated } = await gateway.reported(1);
  // 10 bytes of text are 3 tokens, at 1 USD each.
  assert((charge?.nanoUsd ?? 0) >= 3e9, String(charge?.nanoUsd));
  assertEquals(estimated, true);
});

Deno.test("a held stream without counts is estimated like any other", async () => {
  const tokens = [];
  for (const route of ["strategy: weighted", "hold: 30s"]) {
    const gateway = lateGateway(
      [whole("compat", 1_000)],
      route,
      "security: {enabled: true, api_key: {keys: [{name: a, value: client-key-0123456789}]}}",
    );
    const headers = { authorization: "Bearer client-key-0123456789" };
    await callLate(gateway, "chat", { headers });
    tokens.push((await gateway.reported(1)).charge?.tokens);
  }
  assertEquals(tokens[1], tokens[0]);
  assert((tokens[0] ?? 0) > 3);
});

Deno.test("nothing is stored of a held attempt that failed, and the response of the one that served is", async () => {
  const gateway = lateGateway([cut("compat", 500), whole("compat")], "hold: 30s", RETRY);
  const { text } = await callLate(gateway, "responses", { members: { store: true } });
  const ids = new Set([...text.matchAll(/"id":"(resp_[0-9a-f]+)"/g)].map(([, id]) => id));
  assertEquals(ids.size, 1);
  const [id] = ids;
  const found = await gateway.app(new Request(`http://localhost/v1/responses/${id}`));
  assertEquals((await found.json()).output[0].content[0].text, "Alpha beta");
});

Deno.test("a held response that breaks its schema after its content is answered by the fallback, without a byte of the first", async () => {
  const [start = "", block = "", piece = "", , ...rest] = STREAMS.messages ?? [];
  const saying = (text: string): LateTarget => {
    const deltas = [...text].map((char) => piece.replace('"Alpha"', JSON.stringify(char)));
    const pieces = [start, block, ...deltas, ...rest];
    return { type: "messages", answers: [streaming(pieces, 1_000, 100)] };
  };
  const schema = {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  };
  const json_schema = { name: "x", strict: true, schema };
  const members = { response_format: { type: "json_schema", json_schema } };
  const targets = [saying('{"n":"one"}'), saying('{"n":1}')];
  const content = (text: string) =>
    [...text.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(([, one = ""]) => JSON.parse(one))
      .join("");
  const held = lateGateway(targets, "hold: 30s", RETRY);
  const { headers, text } = await callLate(held, "chat", { members });
  assertEquals([content(text), headers.get("x-gateway-held")], ['{"n":1}', "complete"]);
  const { attempts, verified } = await held.reported(1);
  assertEquals(attempts.map(({ outcome }) => outcome), ["promise_broken", "success"]);
  assert(verified.length > 0);
  const streamed = await callLate(lateGateway(targets, "strategy: weighted", RETRY), "chat", {
    members,
  });
  assert(content(streamed.text).startsWith('{"n":"on') && streamed.text.includes('"error":'));
});

Deno.test("a response in the background is neither held nor begun early", async () => {
  const gateway = lateGateway(
    [{ type: "responses", answers: [streaming(STREAMS.responses ?? [], 30_000, 1_000)] }],
    "early_head: 20s, hold: 60s",
  );
  const members = { store: true, background: true };
  const { headers, headAt } = await callLate(gateway, "responses", { members });
  assertEquals([headers.get("x-gateway-early"), headers.get("x-gateway-held")], [null, null]);
  assertEquals(headAt, 30);
});

Deno.test("nothing is held while the response memory is full", async () => {
  const gateway = lateGateway([whole("compat", 1_000)], "hold: 60s");
  const { gateway: { state: { admission } }, world } = gateway;
  world.after(500, () => admission.holdResponse("other", 1024 ** 3));
  const { headers, headAt, text } = await callLate(gateway, "chat");
  admission.release("other");
  assertEquals([headers.get("x-gateway-held"), headAt], ["released", 2]);
  assert(text.endsWith("data: [DONE]\n\n"));
});

Deno.test("without hold a break after content breaks the stream, and a silent target without content is no hold", async () => {
  const gateway = lateGateway([cut("compat", 400), whole("compat")], "strategy: weighted", RETRY);
  assert((await callLate(gateway, "chat")).text.includes('"code":"upstream_stream_error"'));
  const quiet = lateGateway([{ type: "compat", answers: [silent] }, whole("compat")], "hold: 30s");
  const { text, headAt } = await callLate(quiet, "chat");
  assert(text.includes("Alpha") && headAt > 180);
});
