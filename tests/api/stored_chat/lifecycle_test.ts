import { assertEquals } from "../../support/assert.ts";
import { COMPLETION, MESSAGES } from "../../support/chat_call.ts";
import { naming, nativeConfig, nativeGateway } from "../../support/native_gateway.ts";
import { refusalOf } from "../../support/state_call.ts";
import {
  type NativeObject,
  testOperations,
  withNativeObject,
} from "../stored/native_operations.ts";

const ALL = "/chat/completions";
const PATH = `${ALL}/chatcmpl-1`;
const ABLE = { can: ["chat_completions_lifecycle"] };
const ONE = nativeConfig({ first: ABLE, second: {} });
const TWO = nativeConfig({ first: ABLE, second: ABLE });
const UNABLE = [400, "unsupported_feature", "provider"];

const STORED: NativeObject = {
  type: "chat_completion",
  id: "chatcmpl-1",
  path: ALL,
  create: { model: "m", ...MESSAGES, store: true },
  created: COMPLETION,
  can: ABLE.can,
  param: "completion_id",
  unknown: "completion_not_found",
};

const RIGHT = ' {"object":"chat.completion", "id":"chatcmpl-\\u0031","n":1.0}\n';
const OTHERS = [{ ...COMPLETION, id: "chatcmpl-2" }, { ...COMPLETION, object: "list" }, {}];
const METADATA = '{"metadata":{"a":1}, "x":[1.0]}';

testOperations(STORED, {
  retrieve: {
    send: (calls, headers) => calls.get(`${PATH}?x=1`, headers),
    asks: `GET ${PATH}?x=1`,
    right: RIGHT,
    wrong: OTHERS,
  },
  update: {
    send: (calls, headers) => calls.post(PATH, METADATA, headers),
    asks: `POST ${PATH}`,
    body: METADATA,
    right: RIGHT,
    wrong: OTHERS,
  },
  remove: {
    send: (calls, headers) => calls.delete(PATH, headers),
    asks: `DELETE ${PATH}`,
    right: '{"object":"chat.completion.deleted","id":"chatcmpl-1", "deleted":true}',
    wrong: [
      { object: "chat.completion.deleted", id: "chatcmpl-2", deleted: true },
      { object: "chat.completion.deleted", id: "chatcmpl-1", deleted: false },
      { object: "chat.completion", id: "chatcmpl-1", deleted: true },
    ],
    unbinds: true,
    withoutBody: [200, '{"object":"chat.completion.deleted","id":"chatcmpl-1","deleted":true}'],
  },
  messages: {
    send: (calls, headers) => calls.get(`${PATH}/messages?limit=2&order=up`, headers),
    asks: `GET ${PATH}/messages?limit=2&order=up`,
    right: '{"object":"list" ,"data":[1.0]}',
    wrong: [{ object: "list" }, { data: [] }],
  },
});

Deno.test("a list request goes to the only capable provider, with its query", async () => {
  const list = '{"object":"list" ,"data":[]}';
  const calls = nativeGateway(ONE, () => ({ body: list }));
  const answer = await calls.get(`${ALL}?limit=2&metadata[a]=b%20c&model=m`, { accept: "a/b" });
  assertEquals([answer.status, answer.text], [200, list]);
  assertEquals(calls.lastRequest(), `first GET ${ALL}?limit=2&metadata%5Ba%5D=b+c&model=m`);
  assertEquals(calls.requests[0]?.headers.get("accept"), "a/b");
});

Deno.test(
  "a list request with several capable providers requires a provider name",
  async () => {
    const calls = nativeGateway(TWO, () => ({ body: { object: "list", data: [] } }));
    const refused = await calls.get(ALL);
    assertEquals(refusalOf(refused), [400, "ambiguous_provider", "provider"]);
    assertEquals(calls.requests.length, 0);
    assertEquals((await calls.get(ALL, naming("second"))).status, 200);
    assertEquals(calls.requests[0]?.host, "second");
  },
);

Deno.test(
  "a list without a capable provider is refused, and a wrong one is a 502",
  async () => {
    const none = nativeGateway(nativeConfig({ first: {} }), () => ({ body: "" }));
    assertEquals(refusalOf(await none.get(ALL)), UNABLE);
    assertEquals(refusalOf(await none.get(ALL, naming("first"))), UNABLE);
    assertEquals(none.requests.length, 0);
    const wrong = nativeGateway(ONE, () => ({ body: COMPLETION }));
    assertEquals((await wrong.get(ALL)).status, 502);
  },
);

Deno.test("identifiers with white space around them never leave the gateway", async () => {
  const calls = await withNativeObject(STORED, () => ({ body: RIGHT }));
  const expected = [400, "invalid_value", "completion_id"];
  for (const path of [`${ALL}/%20x`, `${ALL}/x%0A`]) {
    assertEquals(refusalOf(await calls.get(path, naming("first"))), expected);
    assertEquals(refusalOf(await calls.get(`${path}/messages`, naming("first"))), expected);
  }
  assertEquals(calls.requests.length, 1);
});
