import { assertEquals, assertMatch } from "../../../support/assert.ts";
import { testOverStores } from "../../../support/over_stores.ts";
import {
  naming,
  nativeConfig,
  nativeGateway,
  responseOf,
  streamOf,
} from "../../../support/native_gateway.ts";
import { refusalOf } from "../../../support/state_call.ts";

const CAN = ["responses_lifecycle"];
const TWO = nativeConfig({ first: { can: CAN }, second: { can: CAN } });
const FOLLOW = { model: "m", input: "two", previous_response_id: "resp_x" };
const UNKNOWN = [400, "previous_response_not_found", "previous_response_id"];

testOverStores(
  "an unknown previous response is refused before a request is sent upstream",
  async () => {
    const calls = nativeGateway(TWO, () => ({ body: responseOf("resp_2") }));
    assertEquals(refusalOf(await calls.post("/responses", FOLLOW)), UNKNOWN);
    assertEquals(calls.requests.length, 0);
  },
);

testOverStores(
  "an unknown previous response is sent only to the native provider that the client names",
  async () => {
    const names = [naming("second"), { "x-gateway-model": "second/m" }];
    for (const headers of names) {
      const calls = nativeGateway(TWO, () => ({ body: responseOf("resp_2") }));
      const text = '{"model":"m",  "input":"two","previous_response_id":"resp_x" }';
      assertEquals((await calls.post("/responses", text, headers)).status, 200);
      assertEquals(calls.requests.map(({ host, body }) => [host, body]), [["second", text]]);
      await calls.post("/responses", { ...FOLLOW, previous_response_id: "resp_2" });
      assertEquals(calls.requests.at(-1)?.host, "second");
    }
  },
);

Deno.test(
  "a request to a named provider never falls back, and its response is returned",
  async () => {
    const body = '{"error":{"message":"Not found.","code":"previous_response_not_found"}}';
    const calls = nativeGateway(TWO, () => ({ status: 503, body }));
    const headers = { ...naming("first"), "x-gateway-no-retry": "true" };
    const answer = await calls.post("/responses", FOLLOW, headers);
    assertEquals([answer.status, answer.text], [503, body]);
    assertEquals(calls.requests.map(({ host }) => host), ["first"]);
  },
);

testOverStores(
  "a response whose earlier items only its upstream has is continued there, even if stored in the gateway",
  async () => {
    for (const stream of [false, true]) {
      let count = 1;
      const calls = nativeGateway(nativeConfig({ up: {} }), () => {
        const id = `resp_${++count}`;
        return { body: stream ? streamOf(id) : responseOf(id) };
      });
      await calls.post("/responses", { ...FOLLOW, stream }, naming("up"));
      assertEquals((await calls.get("/responses/resp_2")).json, responseOf("resp_2"));
      const body = { ...FOLLOW, stream, input: "three", previous_response_id: "resp_2" };
      assertEquals((await calls.post("/responses", body)).status, 200);
      assertEquals(calls.requests[1]?.json, body);
      await calls.post("/responses", { ...body, previous_response_id: "resp_3" });
      assertEquals(calls.requests[2]?.json.previous_response_id, "resp_3");
    }
  },
);

Deno.test(
  "a named provider without the Responses API cannot continue a response",
  async () => {
    const calls = nativeGateway(TWO.replaceAll(", upstream_request_type: responses", ""), () => ({
      body: responseOf("resp_2"),
    }));
    assertEquals(refusalOf(await calls.post("/responses", FOLLOW, naming("first"))), UNKNOWN);
    assertEquals(calls.requests.length, 0);
  },
);

testOverStores(
  "a native response is not continued by a target that is no longer native",
  async () => {
    const calls = nativeGateway(TWO, () => ({ body: responseOf("resp_x") }));
    await calls.post("/responses", { model: "m", input: "one" });
    calls.reload(TWO.replaceAll(", upstream_request_type: responses", ""));
    for (const headers of [{}, naming("first")]) {
      const refused = await calls.post("/responses", FOLLOW, headers);
      assertEquals(refusalOf(refused), [400, "unsupported_feature", "previous_response_id"]);
      assertMatch(String(refused.error.message), /upstream_request_type responses at .* 'first'/);
    }
    assertEquals(calls.requests.length, 1);
  },
);

testOverStores(
  "a continued native response keeps owner, model and route, unless the client names others",
  async () => {
    let count = 0;
    const calls = nativeGateway(TWO, () => ({ body: responseOf(`resp_${++count}`) }));
    await calls.post("/responses", { model: "m-1", input: "one" }, naming("second"));
    const follow = (id: string, model?: string) => ({
      input: "two",
      previous_response_id: id,
      ...model !== undefined && { model },
    });
    const answer = await calls.post("/responses", follow("resp_1"));
    assertEquals(answer.headers.get("x-gateway-route"), "main-second");
    await calls.post("/responses", follow("resp_2", "auto"));
    await calls.post("/responses", follow("resp_3", "second/m-2"));
    await calls.post("/responses", follow("resp_4"));
    const requests = calls.requests.map(({ host, json }) => `${host}/${json.model}`);
    assertEquals(requests, ["second/m-1", "second/m-1", "second/m-1", "second/m-2", "second/m-2"]);
  },
);
