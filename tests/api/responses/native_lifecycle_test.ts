import type { JsonObject } from "../../../src/core/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  type Asked,
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  responseOf,
  type Says,
  streamOf,
} from "../../support/native_gateway.ts";
import { refusalOf, type Reply } from "../../support/state_call.ts";

const CAN = ["responses_lifecycle", "response_cancellation"];
const ID = "resp_1";

/** A gateway with one bound response, whose upstream then answers as the script says. */
async function gateway(script: (asked: Asked) => Says | Error): Promise<NativeGateway> {
  const calls = nativeGateway(
    nativeConfig({ first: { can: CAN }, second: { can: CAN } }),
    (asked) =>
      asked.method === "POST" && asked.path === "/responses"
        ? { body: responseOf(ID) }
        : script(asked),
  );
  await calls.post("/responses", { model: "m", input: "x" });
  return calls;
}

type Send = (calls: NativeGateway, headers?: Record<string, string>) => Promise<Reply>;

interface Operation {
  readonly send: Send;
  readonly asks: string;
  /** The answer that is right. */
  readonly right: string;
  /** Answers that are not what was asked for. */
  readonly wrong: readonly JsonObject[];
}

const RESPONSE_WRONG = [
  responseOf("resp_2"),
  responseOf(` ${ID}`),
  { ...responseOf(ID), object: "list" },
  { id: ID },
];

const OPERATIONS: Readonly<Record<string, Operation>> = {
  retrieve: {
    send: (calls, headers) => calls.get(`/responses/${ID}?include[]=a%20b&include=c&x=`, headers),
    asks: `first GET /responses/${ID}?include%5B%5D=a+b&include=c&x=`,
    right: ` {"object" : "response","id":"resp_\\u0031","n":1.0}\n`,
    wrong: RESPONSE_WRONG,
  },
  cancel: {
    send: (calls, headers) => calls.post(`/responses/${ID}/cancel`, "", headers),
    asks: `first POST /responses/${ID}/cancel`,
    right: `{"object":"response", "id":"${ID}", "status":"cancelled"}`,
    wrong: RESPONSE_WRONG,
  },
  inputItems: {
    send: (calls, headers) =>
      calls.get(`/responses/${ID}/input_items?limit=500&after=%20&order=up`, headers),
    asks: `first GET /responses/${ID}/input_items?limit=500&after=+&order=up`,
    right: `{"object":"list", "data":[ {"id":"a","x":1.0} ],"more":0}`,
    wrong: [{ object: "list" }, { data: [] }, { object: "response", data: [] }],
  },
  remove: {
    send: (calls, headers) => calls.delete(`/responses/${ID}`, headers),
    asks: `first DELETE /responses/${ID}`,
    right: `{"id":"${ID}", "object":"response","deleted":true}`,
    wrong: [
      { id: "resp_2", object: "response", deleted: true },
      { id: ID, object: "response", deleted: false },
      { id: ID, object: "response" },
      { id: ID, deleted: true },
    ],
  },
};

for (const [name, { send, asks, right, wrong }] of Object.entries(OPERATIONS)) {
  Deno.test(`${name} goes to the owner as it is, and its answer comes back byte for byte`, async () => {
    const calls = await gateway(() => ({
      headers: { "content-type": "application/json", "x-request-id": "r", "etag": "e" },
      body: right,
    }));
    const answer = await send(calls, {
      accept: "application/json;q=0.9",
      authorization: "Bearer theirs",
      "x-extra": "1",
      "compat-beta": "b=1",
    });
    assertEquals([answer.status, answer.text, calls.lastAsked()], [200, right, asks]);
    const { headers } = calls.asked[1] ?? {};
    const sent = ["accept", "authorization", "x-extra", "compat-beta"];
    const wanted = ["application/json;q=0.9", "Bearer sk-first", null, "b=1"];
    assertEquals(sent.map((header) => headers?.get(header)), wanted);
    const shown = ["x-request-id", "etag", "x-gateway-provider"];
    assertEquals(shown.map((header) => answer.headers.get(header)), ["r", null, "first"]);
  });

  Deno.test(`${name} with a wrong answer is a 502 that leaves the binding alone`, async () => {
    const bodies = [...wrong.map((body) => JSON.stringify(body)), "", "[]", `${right}{}`];
    for (const body of bodies) {
      const calls = await gateway(() => ({ body }));
      const answer = await send(calls);
      assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"], body);
      assertEquals(calls.vault.bindings.response.get(ID)?.state, "bound");
    }
    const twice = right.replace(/"object" ?:/, '"object":"other",$&');
    const calls = await gateway(() => ({ body: twice }));
    assertEquals((await send(calls)).status, 502, twice);
  });

  Deno.test(`${name} is sent once, to one provider, whatever goes wrong`, async () => {
    const failures: (Says | Error)[] = [429, 500, 503, 529, 202, 404].map((status) => (
      { status, body: "" }
    ));
    for (const says of [...failures, new TypeError("tcp connect error: refused")]) {
      const calls = await gateway(() => says);
      const answer = await send(calls);
      assert(answer.status >= 400);
      assertEquals(calls.asked.map(({ host }) => host), ["first", "first"]);
      assertEquals(calls.vault.bindings.response.get(ID)?.state, "bound");
    }
  });

  Deno.test(`${name} takes at most 16 MiB`, async () => {
    const room = 16 * 1024 * 1024 - new TextEncoder().encode(right).length;
    const fits = await gateway(() => ({ body: right + " ".repeat(room) }));
    assertEquals((await send(fits)).status, 200);
    const large = await gateway(() => ({ body: right + " ".repeat(room + 1) }));
    const answer = await send(large);
    assertEquals([answer.status, answer.error.code], [502, "upstream_response_too_large"]);
    assertEquals(large.vault.bindings.response.get(ID)?.state, "bound");
  });

  Deno.test(`${name} needs its capability, also after a reload`, async () => {
    const calls = await gateway(() => ({ body: right }));
    calls.reload(nativeConfig({ first: {}, second: { can: CAN } }));
    const expected = [400, "unsupported_feature", "provider"];
    assertEquals(refusalOf(await send(calls)), expected);
    assertEquals(refusalOf(await send(calls, naming("first"))), expected);
    assertEquals(calls.asked.length, 1);
    calls.reload(nativeConfig({ first: { can: CAN }, second: { can: CAN } }));
    assertEquals((await send(calls)).status, 200);
  });
}

Deno.test("only deleting unbinds, and either type of what is left will do", async () => {
  for (const object of ["response", "response.deleted"]) {
    const calls = await gateway(() => ({ body: { id: ID, object, deleted: true } }));
    assertEquals((await calls.delete(`/responses/${ID}`)).status, 200);
    assertEquals(calls.vault.bindings.response.entries, 0);
    const again = await calls.delete(`/responses/${ID}`);
    assertEquals(refusalOf(again), [404, "response_not_found", "response_id"]);
    assertEquals(calls.asked.length, 2);
  }
});

Deno.test("the provider's own error comes back as it is", async () => {
  const body = '{"error" : {"message":"No such thing.","code":"x"}}';
  const calls = await gateway(() => ({ status: 404, body }));
  const answer = await calls.get(`/responses/${ID}`);
  assertEquals([answer.status, answer.text], [404, body]);
});

Deno.test("a response is retrieved as a stream, which must be the one asked for", async () => {
  const stream = streamOf(ID);
  const calls = await gateway(() => ({ body: `${stream}data: [DONE]\n\n` }));
  const path = `/responses/${ID}?stream=true&starting_after=4`;
  const answer = await calls.get(path, { accept: "text/event-stream" });
  assertEquals([answer.status, answer.text], [200, stream]);
  assertEquals(calls.lastAsked(), `first GET ${path}`);
  assertEquals(calls.asked[1]?.headers.get("accept"), "text/event-stream");
  const other = await gateway(() => ({ body: streamOf("resp_2") }));
  const refused = await other.get(path);
  assertEquals([refused.status, refused.error.code], [502, "invalid_upstream_response"]);
  const broken = await gateway(() => ({ body: stream.split("\n\n")[0] + "\n\n" }));
  assert((await broken.get(path)).text.includes("event: response.failed"));
  assertEquals(broken.vault.bindings.response.get(ID)?.state, "bound");
});

Deno.test("an id with white space, slashes and marks inside reaches the owner in one piece", async () => {
  const id = "resp 1/ä?#%2F&";
  const calls = nativeGateway(
    nativeConfig({ up: { can: CAN } }),
    () => ({ body: responseOf(id) }),
  );
  await calls.post("/responses", { model: "m", input: "x" });
  const answer = await calls.get(`/responses/${encodeURIComponent(id)}`);
  assertEquals(answer.json.id, id);
  assertEquals(calls.lastAsked(), `up GET /responses/${encodeURIComponent(id)}`);
});

Deno.test("an id that a path cannot hold never leaves the gateway", async () => {
  const calls = await gateway(() => ({ body: responseOf(".") }));
  for (const id of ["%20x", "x%20", "%09"]) {
    const answer = await calls.get(`/responses/${id}`, naming("first"));
    assertEquals(refusalOf(answer), [400, "invalid_value", "response_id"]);
  }
  assertEquals(calls.asked.length, 1);
});
