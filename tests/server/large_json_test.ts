import { assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { heldTurns } from "../support/held_turns.ts";
import { longParses } from "../support/long_parses.ts";
import { scriptedWorld } from "../support/world.ts";

const MIN_LARGE_CHARS = 256 * 1024, MIN_ENTERING_CHARS = 32 * 1024;

const LARGE = "x".repeat(MIN_LARGE_CHARS);

/** A gateway whose provider responds with this text, and whose large pieces of work are held. */
function serve(answer = JSON.stringify(COMPLETION), settings = "") {
  let sent = 0;
  const world = scriptedWorld({
    fetch() {
      sent++;
      return answers(200, answer);
    },
  });
  const { app, gateway } = testGateway(oneProvider("http://up.test") + settings, world);
  const held = heldTurns("entering", "large");
  Object.assign(gateway.state, { turns: held.turns });
  const large = () => held.kinds.filter((kind) => kind === "entering" || kind === "large").length;
  return { app, gateway, held, large, sent: () => sent };
}

const messages = [{ role: "user", content: LARGE }];

Deno.test("a body of 256 KiB is parsed, served and written for its provider in a turn each", async () => {
  const { app, held, sent } = serve();
  const answer = app(chatRequest({ body: { messages } }));
  for (const step of ["parsed", "served", "written"]) {
    await held.waits(1);
    assertEquals(sent(), 0, `before it is ${step}`);
    held.begin();
  }
  assertEquals((await got(await answer)).status, 200);
  assertEquals(sent(), 1);
});

Deno.test("the turns of a call are those of its client key", async () => {
  const security = "security: {enabled: true, api_key: {keys: [{name: ada, value: key-of-ada}]}}\n";
  const { app, gateway, held } = serve(undefined, security);
  const request = chatRequest({
    body: { messages },
    headers: { authorization: "Bearer key-of-ada" },
  });
  const answer = await held.beginUntil(app(request).then(got));
  assertEquals(answer.status, 200);
  const callers = gateway.generation.clientKeys.map(({ caller }) => caller);
  assertEquals([...held.clients], callers);
});

Deno.test("the turns of a call without a client key are those of its network", async () => {
  const { app, held } = serve();
  for (const hostname of ["192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"]) {
    const peer = { remoteAddr: { transport: "tcp", hostname, port: 1 } } as const;
    await held.beginUntil(app(chatRequest({ body: { messages } }), peer).then(got));
  }
  assertEquals([...held.clients], [
    "address 192.0.2.1",
    "address 192.0.2.2",
    "address 2001:db8:0:0::/64",
  ]);
});

Deno.test("a large body that is no JSON is not parsed before its turn", async () => {
  const { app, held, large } = serve();
  const request = new Request("http://localhost/v1/chat/completions", {
    method: "POST",
    headers: { host: "localhost" },
    body: LARGE,
  });
  using parses = longParses();
  const answer = app(request);
  await held.waits(1);
  assertEquals(parses.count(), 0);
  held.begin();
  assertEquals((await got(await answer)).error.code, "invalid_json");
  assertEquals([parses.count(), large()], [1, 1]);
});

Deno.test("a response of 256 KiB is parsed in its turn", async () => {
  const large = { ...COMPLETION, choices: [{ index: 0, message: { content: LARGE } }] };
  const { app, held } = serve(JSON.stringify(large).replace('"content"', '"role":"assistant",$&'));
  const answer = app(chatRequest());
  await held.waits(1);
  held.begin();
  assertEquals((await got(await answer)).status, 200);
});

Deno.test("a body of 32 KiB is parsed in a turn, and served and written at once", async () => {
  const { app, held, large, sent } = serve();
  const body = { messages: [{ role: "user", content: "x".repeat(MIN_ENTERING_CHARS) }] };
  using parses = longParses(MIN_ENTERING_CHARS);
  const answer = app(chatRequest({ body }));
  await held.waits(1);
  assertEquals(parses.count(), 0);
  held.begin();
  assertEquals((await got(await answer)).status, 200);
  assertEquals([large(), sent()], [1, 1]);
});

Deno.test("a body whose client leaves before its turn leaves the queue, and is neither parsed nor sent", async () => {
  for (const [turns, parsed] of [[0, 0], [1, 1], [2, 1]] as const) {
    const { app, gateway, held, large, sent } = serve();
    const client = new AbortController();
    const request = new Request(chatRequest({ body: { messages } }), { signal: client.signal });
    using parses = longParses(MIN_LARGE_CHARS);
    const answer = app(request);
    for (let turn = 0; turn < turns; turn++) {
      await held.waits(1);
      held.begin();
    }
    await held.waits(1);
    client.abort();
    assertEquals(held.waiting(), 0);
    await got(await answer);
    assertEquals([parses.count(), sent(), large()], [parsed, 0, turns + 1], `in turn ${turns}`);
    assertEquals([gateway.state.admission.bodyBytes(), gateway.state.admission.count()], [0, 0]);
  }
});

Deno.test("a body whose client has left is not checked", async () => {
  const { app, held } = serve();
  const client = new AbortController();
  const request = chatRequest({ body: { messages: [LARGE] } });
  const answer = app(new Request(request, { signal: client.signal }));
  await held.waits(1);
  held.begin();
  await held.waits(1);
  client.abort();
  assertEquals((await got(await answer)).status, 499);
});

Deno.test("a body below 32 KiB and a response below 256 KiB wait for no turn of large ones", async () => {
  const content = "x".repeat(MIN_ENTERING_CHARS - 1_000);
  const completion = { ...COMPLETION, padding: "x".repeat(MIN_LARGE_CHARS - 1_000) };
  const { app, large } = serve(JSON.stringify(completion));
  const answer = await got(
    await app(chatRequest({ body: { messages: [{ role: "user", content }] } })),
  );
  assertEquals([answer.status, large()], [200, 0]);
});

/** A gateway before two targets and a fallback, whose large pieces of work are held. */
function serveRoute() {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const { app, gateway, reports } = testGateway(
    `
providers:
  up: {type: compat, base_url: "http://up.test/v1", api_key: k}
  two: {type: compat, base_url: "http://two.test/v1", api_key: k}
  spare: {type: messages, base_url: "http://spare.test", api_key: k}
routing:
  routes: [{name: main, targets: [{provider: up}, {provider: two}], fallback: [{provider: spare}]}]
`,
    world,
  );
  const held = heldTurns("large");
  Object.assign(gateway.state, { turns: held.turns });
  return { app, gateway, held, reports };
}

Deno.test("a body of 256 KiB is translated in a turn for each further target and fallback of its route", async () => {
  const { app, held } = serveRoute();
  const answer = app(chatRequest({ body: { messages } }));
  for (const step of ["served", "second target", "fallback", "written"]) {
    await held.waits(1);
    assertEquals(held.waiting(), 1, step);
    held.begin();
  }
  assertEquals((await got(await answer)).status, 200);
  const short = held.kinds.length;
  assertEquals((await got(await app(chatRequest()))).status, 200);
  assertEquals(held.kinds.slice(short).filter((kind) => kind === "large"), []);
});

Deno.test("a call whose client leaves is translated for no further target", async () => {
  const { app, held, reports } = serveRoute();
  const client = new AbortController();
  const answer = app(new Request(chatRequest({ body: { messages } }), { signal: client.signal }));
  await held.waits(1);
  held.begin();
  await held.waits(1);
  client.abort();
  assertEquals((await got(await answer)).status, 499);
  assertEquals([held.waiting(), reports[0]?.attempts], [0, []]);
});

Deno.test("a call is translated for no further target while the heap is nearly full", async () => {
  const { app, gateway, held } = serveRoute();
  const answer = app(chatRequest({ body: { messages } }));
  await held.waits(1);
  held.begin();
  await held.waits(1);
  Object.assign(gateway.state.admission, { isHeapFull: () => true });
  held.begin();
  assertEquals((await got(await answer)).status, 503);
});

const LOOP = [
  ...messages,
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: "c", content: "1" },
];

Deno.test("the reasoning of a large tool loop is looked up in a turn before it is translated", async () => {
  const { app, held } = serveRoute();
  const answer = app(chatRequest({ body: { messages: LOOP } }));
  const steps = ["served", "looked up", "second target", "fallback", "written"];
  for (const step of steps) {
    await held.waits(1);
    assertEquals(held.waiting(), 1, step);
    held.begin();
  }
  assertEquals((await got(await answer)).status, 200);
});

Deno.test("a call whose client leaves while its reasoning waits for a turn is not translated", async () => {
  const { app, held, reports } = serveRoute();
  const client = new AbortController();
  const request = chatRequest({ body: { messages: LOOP } });
  const answer = app(new Request(request, { signal: client.signal }));
  await held.waits(1);
  held.begin();
  await held.waits(1);
  const before = held.kinds.length;
  client.abort();
  assertEquals((await got(await answer)).status, 499);
  assertEquals([held.kinds.length, reports[0]?.attempts], [before, []]);
});
