import { assert, assertEquals } from "../../../support/assert.ts";
import { testOverStores } from "../../../support/over_stores.ts";
import { bindingOf } from "../../../support/object_store.ts";
import {
  naming,
  nativeConfig,
  nativeGateway,
  responseOf,
  type ScriptedResponse,
  type SentRequest,
  streamOf,
} from "../../../support/native_gateway.ts";
import { refusalOf } from "../../../support/state_call.ts";
import {
  type NativeObject,
  testOperations,
  withNativeObject,
} from "../../stored/native_operations.ts";

const ID = "resp_1";

const RESPONSE: NativeObject = {
  type: "response",
  id: ID,
  path: "/responses",
  create: { model: "m", input: "x" },
  created: responseOf(ID),
  can: ["responses_lifecycle", "response_cancellation"],
  param: "response_id",
  unknown: "response_not_found",
};

const WRONG = [
  responseOf("resp_2"),
  responseOf(` ${ID}`),
  { ...responseOf(ID), object: "list" },
  { id: ID },
];

testOperations(RESPONSE, {
  retrieve: {
    send: (calls, headers) => calls.get(`/responses/${ID}?include[]=a%20b&include=c&x=`, headers),
    asks: `GET /responses/${ID}?include%5B%5D=a+b&include=c&x=`,
    right: ` {"object" : "response","id":"resp_\\u0031","n":1.0}\n`,
    wrong: WRONG,
  },
  cancel: {
    send: (calls, headers) => calls.post(`/responses/${ID}/cancel`, "", headers),
    asks: `POST /responses/${ID}/cancel`,
    right: `{"object":"response", "id":"${ID}", "status":"cancelled"}`,
    wrong: WRONG,
  },
  inputItems: {
    send: (calls, headers) =>
      calls.get(`/responses/${ID}/input_items?limit=500&after=%20&order=up`, headers),
    asks: `GET /responses/${ID}/input_items?limit=500&after=+&order=up`,
    right: `{"object":"list", "data":[ {"id":"a","x":1.0} ],"more":0}`,
    wrong: [{ object: "list" }, { data: [] }, { object: "response", data: [] }],
  },
  remove: {
    send: (calls, headers) => calls.delete(`/responses/${ID}`, headers),
    asks: `DELETE /responses/${ID}`,
    right: `{"id":"${ID}", "object":"response","deleted":true}`,
    wrong: [
      { id: "resp_2", object: "response", deleted: true },
      { id: ID, object: "response", deleted: false },
      { id: ID, object: "response" },
      { id: ID, deleted: true },
    ],
    unbinds: true,
    withoutBody: [200, `{"id":"${ID}","object":"response","deleted":true}`],
  },
});

function gateway(script: (request: SentRequest) => ScriptedResponse) {
  return withNativeObject(RESPONSE, script);
}

testOverStores(
  "a deleted response is unknown, and both notations of the deletion's type are accepted",
  async () => {
    for (const object of ["response", "response.deleted"]) {
      const calls = await gateway(() => ({ body: { id: ID, object, deleted: true } }));
      assertEquals((await calls.delete(`/responses/${ID}`)).status, 200);
      const again = await calls.delete(`/responses/${ID}`);
      assertEquals(refusalOf(again), [404, "response_not_found", "response_id"]);
      assertEquals(calls.requests.length, 2);
    }
  },
);

Deno.test("the provider's own error is returned unchanged", async () => {
  const body = '{"error" : {"message":"No such thing.","code":"x"}}';
  const calls = await gateway(() => ({ status: 404, body }));
  const answer = await calls.get(`/responses/${ID}`);
  assertEquals([answer.status, answer.text], [404, body]);
});

Deno.test(
  "a response is retrieved as a stream, which must have the requested ID",
  async () => {
    const stream = streamOf(ID);
    const calls = await gateway(() => ({ body: `${stream}data: [DONE]\n\n` }));
    const path = `/responses/${ID}?stream=true&starting_after=4`;
    const answer = await calls.get(path, { accept: "text/event-stream" });
    assertEquals([answer.status, answer.text], [200, stream]);
    assertEquals(calls.lastRequest(), `first GET ${path}`);
    assertEquals(calls.requests[1]?.headers.get("accept"), "text/event-stream");
    const other = await gateway(() => ({ body: streamOf("resp_2") }));
    const refused = await other.get(path);
    assertEquals([refused.status, refused.error.code], [502, "invalid_upstream_response"]);
    const broken = await gateway(() => ({ body: `${stream.split("\n\n")[0]}\n\n` }));
    assert((await broken.get(path)).text.includes("event: response.failed"));
    assertEquals((await bindingOf(broken, "response", ID))?.kind, "bound");
  },
);

testOverStores(
  "an ID with white space, slashes and punctuation inside is sent to the owner as one path segment",
  async () => {
    const id = "resp 1/ä?#%2F&";
    const calls = nativeGateway(
      nativeConfig({ up: { can: RESPONSE.can } }),
      () => ({ body: responseOf(id) }),
    );
    await calls.post("/responses", { model: "m", input: "x" });
    const answer = await calls.get(`/responses/${encodeURIComponent(id)}`);
    assertEquals(answer.json.id, id);
    assertEquals(calls.lastRequest(), `up GET /responses/${encodeURIComponent(id)}`);
  },
);

Deno.test("an ID with leading or trailing white space is never sent upstream", async () => {
  const calls = await gateway(() => ({ body: responseOf(".") }));
  for (const id of ["%20x", "x%20", "%09"]) {
    const answer = await calls.get(`/responses/${id}`, naming("first"));
    assertEquals(refusalOf(answer), [400, "invalid_value", "response_id"]);
  }
  assertEquals(calls.requests.length, 1);
});
