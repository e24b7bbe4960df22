import { assert, assertEquals } from "../support/assert.ts";
import { got, verdictOf } from "../support/chat_call.ts";
import { responseOf, streamOf } from "../support/native_gateway.ts";
import { type HeldGateway, heldGateway } from "./held_calls.ts";

const BUSY = [503, "upstream_error", "provider_busy"];

const CAN = ["responses_lifecycle", "response_cancellation", "background_responses"];

function nativeGateway(limits: string): HeldGateway {
  const can = CAN.map((name) => `${name}: true`).join(", ");
  return heldGateway(`
providers:
  a:
    {type: compat, base_url: "http://a", ${limits}, models: {mode: fetch}, capabilities: {${can}}}
routing:
  routes:
    - {name: chat, match: {path: /v1/chat}, targets: [{provider: a}]}
    - {name: native, targets: [{provider: a, upstream_request_type: responses}]}
retry: {enabled: false}
`);
}

/** Sends a request; a body makes it a POST. */
async function send(held: HeldGateway, path: string, init: RequestInit = {}) {
  return await got(await held.app(new Request(`http://localhost/v1${path}`, init)));
}

function create(held: HeldGateway, more = {}) {
  const body = JSON.stringify({ model: "m", input: "x", ...more });
  return send(held, "/responses", { method: "POST", body });
}

/** Lets the gateway create the response `resp_1`. */
async function created(held: HeldGateway): Promise<void> {
  const creating = create(held);
  await held.world.advance(0);
  held.oldest().answer(200, JSON.stringify(responseOf("resp_1")));
  assertEquals((await creating).status, 200);
}

const OPERATIONS: readonly (readonly [path: string, init: RequestInit])[] = [
  ["/responses/resp_1", {}],
  ["/responses/resp_1", { method: "DELETE" }],
  ["/responses/resp_1/input_items", {}],
  ["/responses/resp_1/cancel", { method: "POST" }],
];

Deno.test("calls for stored objects count, and are refused when the only owner is busy", async () => {
  for (const [path, init] of OPERATIONS) {
    const held = nativeGateway("max_concurrent: 1");
    await created(held);
    void held.asked();
    await held.world.advance(0);
    const answer = await send(held, path, init);
    assertEquals([verdictOf(answer), answer.headers.get("retry-after")], [BUSY, "1"], path);
    held.oldest().answer();
    await held.world.advance(0);
    void send(held, path, init);
    await held.world.advance(0);
    assertEquals(await held.counts("a"), [1, 0], path);
    assertEquals(verdictOf(await held.asked()), BUSY, path);
  }
});

Deno.test("calls for stored objects wait for their turn in the same queue", async () => {
  for (const [path, init] of OPERATIONS) {
    const held = nativeGateway("max_concurrent: 1, max_queued: 2");
    await created(held);
    const first = held.asked();
    await held.world.advance(0);
    const second = send(held, path, init);
    await held.world.advance(0);
    const third = held.asked();
    await held.world.advance(0);
    assertEquals(await held.counts("a"), [1, 2]);
    held.oldest().answer();
    await held.world.advance(0);
    assertEquals(held.oldest().method, init.method ?? "GET");
    held.oldest().answer(404, "");
    await held.world.advance(0);
    held.oldest().answer();
    const answers = await Promise.all([first, second, third]);
    assertEquals(answers.map(({ status }) => status), [200, 404, 200], path);
    assertEquals(await held.counts("a"), [0, 0]);
  }
});

Deno.test("a native creation holds its slot until its response is read, also a background one", async () => {
  for (const background of [false, true]) {
    const held = nativeGateway("max_concurrent: 1");
    const creating = create(held, { background });
    await held.world.advance(0);
    assertEquals(await held.counts("a"), [1, 0]);
    assertEquals(verdictOf(await create(held, { background })), BUSY);
    const status = background ? "queued" : "completed";
    held.oldest().answer(200, JSON.stringify(responseOf("resp_1", { status, background })));
    assertEquals((await creating).status, 200);
    assertEquals(await held.counts("a"), [0, 0]);
  }
});

Deno.test("a native stream counts until its last byte", async () => {
  const held = nativeGateway("max_concurrent: 1");
  const creating = create(held, { stream: true });
  await held.world.advance(0);
  held.oldest().answer(200, streamOf("resp_1"));
  assert((await creating).text.includes("response.completed"));
  await held.world.advance(0);
  assertEquals(await held.counts("a"), [0, 0]);
});

Deno.test("a list of models is fetched without a slot", async () => {
  const held = nativeGateway("max_concurrent: 1");
  void held.asked();
  const listing = send(held, "/models");
  await held.world.advance(0);
  const list = held.sent.find(({ method }) => method === "GET");
  assertEquals([list?.isOver, await held.counts("a")], [false, [1, 0]]);
  list?.answer(200, JSON.stringify({ object: "list", data: [{ id: "fetched" }] }));
  assert((await listing).text.includes("fetched"));
});
