import { assertEquals } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { naming } from "../../support/native_gateway.ts";
import { refusalOf } from "../../support/state_call.ts";
import {
  type NativeObject,
  testOperations,
  withNativeObject,
} from "../stored/native_operations.ts";

const CREATED = ' {"id":"conv_\\u0031","object":"conversation","created_at":1.0}\n';

const CONVERSATION: NativeObject = {
  type: "conversation",
  id: "conv_1",
  path: "/conversations",
  create: {},
  created: CREATED,
  can: ["conversations"],
  param: "conversation_id",
  unknown: "conversation_not_found",
};

const RESOURCE = { id: "conv_1", object: "conversation" };
const PATH = "/conversations/conv_1";
const BATCH = `{"items":[${Array(30).fill('{"type":"item_reference","id":"a"}').join(", ")}]}`;
const LIST = '{"object":"list" ,"data":[{"x":1.0}]}';
const NO_LIST = [{ object: "list" }, { data: [] }, RESOURCE];
const OTHERS = [
  { ...RESOURCE, id: "conv_2" },
  { ...RESOURCE, object: "conversation.deleted" },
  {},
];

testOperations(CONVERSATION, {
  retrieve: {
    send: (calls, headers) => calls.get(PATH, headers),
    asks: `GET ${PATH}`,
    right: CREATED,
    wrong: OTHERS,
  },
  update: {
    send: (calls, headers) => calls.post(PATH, '{"metadata":{"a":1}, "x":1.0}', headers),
    asks: `POST ${PATH}`,
    body: '{"metadata":{"a":1}, "x":1.0}',
    right: CREATED,
    wrong: OTHERS,
  },
  remove: {
    send: (calls, headers) => calls.delete(PATH, headers),
    asks: `DELETE ${PATH}`,
    right: '{"id":"conv_1","object":"conversation.deleted", "deleted":true}',
    wrong: [
      RESOURCE,
      { id: "conv_1", object: "conversation.deleted" },
      { id: "conv_1", object: "conversation.deleted", deleted: false },
      { id: "conv_2", object: "conversation.deleted", deleted: true },
    ],
    unbinds: true,
    withoutBody: [200, '{"id":"conv_1","object":"conversation.deleted","deleted":true}'],
  },
  addItems: {
    send: (calls, headers) => calls.post(`${PATH}/items?include[]=a`, BATCH, headers),
    asks: `POST ${PATH}/items?include%5B%5D=a`,
    body: BATCH,
    right: LIST,
    wrong: NO_LIST,
  },
  listItems: {
    send: (calls, headers) => calls.get(`${PATH}/items?limit=999&order=up&include=x`, headers),
    asks: `GET ${PATH}/items?limit=999&order=up&include=x`,
    right: LIST,
    wrong: NO_LIST,
  },
  retrieveItem: {
    send: (calls, headers) => calls.get(`${PATH}/items/i%201?include=x`, headers),
    asks: `GET ${PATH}/items/i%201?include=x`,
    right: '{"type":"of_tomorrow", "id":"i 1","n":1.0}',
    wrong: [{ type: "message", id: "i 2" }, { id: "i 1" }, { type: "message" }],
  },
  removeItem: {
    send: (calls, headers) => calls.delete(`${PATH}/items/i%2F1`, headers),
    asks: `DELETE ${PATH}/items/i%2F1`,
    right: CREATED,
    wrong: OTHERS,
    withoutBody: [204, ""],
  },
});

testOverStores("identifiers with white space around them never leave the gateway", async () => {
  const calls = await withNativeObject(CONVERSATION, () => ({ body: CREATED }));
  const first = naming("first");
  const wrong = { "/conversations/%20a": "conversation_id", [`${PATH}/items/a%20`]: "item_id" };
  for (const [path, param] of Object.entries(wrong)) {
    assertEquals(refusalOf(await calls.get(path, first)), [400, "invalid_value", param]);
    assertEquals(refusalOf(await calls.delete(path, first)), [400, "invalid_value", param]);
  }
  assertEquals(calls.requests.length, 1);
});
