import type { JsonObject } from "../../../src/core/json/json.ts";
import { pathIdProblem, pathItemProblem } from "../../../src/api/stored/identifier.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import {
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
} from "../../support/native_gateway.ts";
import { refusalOf, type Reply } from "../../support/state_call.ts";
import { type Kind, KINDS } from "./bound_kinds.ts";

const CAN = [
  "responses_lifecycle",
  "response_cancellation",
  "conversations",
  "chat_completions_lifecycle",
];

type Send = (calls: NativeGateway, id: string) => Promise<Reply>;

const FIRST = naming("up");

const CONVERSATION = { id: "conv_1", object: "conversation" };

/** Serves a provider that stores objects and sends this body. */
function gateway(body: () => JsonObject): NativeGateway {
  return nativeGateway(nativeConfig({ up: { can: CAN } }), () => ({ body: body() }));
}

/** Returns the operations on one object, its id encoded as one segment of the path. */
function operations({ path, param }: Kind): readonly Send[] {
  const at = (id: string) => `${path}/${encodeURIComponent(id)}`;
  const common: readonly Send[] = [
    (calls, id) => calls.get(at(id), FIRST),
    (calls, id) => calls.delete(at(id), FIRST),
  ];
  const more: Readonly<Record<string, readonly Send[]>> = {
    response_id: [
      (calls, id) => calls.post(`${at(id)}/cancel`, "", FIRST),
      (calls, id) => calls.get(`${at(id)}/input_items`, FIRST),
    ],
    completion_id: [
      (calls, id) => calls.post(at(id), "{}", FIRST),
      (calls, id) => calls.get(`${at(id)}/messages`, FIRST),
    ],
    conversation_id: [
      (calls, id) => calls.post(at(id), "{}", FIRST),
      (calls, id) => calls.post(`${at(id)}/items`, '{"items":[]}', FIRST),
      (calls, id) => calls.get(`${at(id)}/items`, FIRST),
      (calls, id) => calls.get(`${at(id)}/items/item_1`, FIRST),
      (calls, id) => calls.delete(`${at(id)}/items/item_1`, FIRST),
    ],
  };
  return [...common, ...more[param] ?? []];
}

/** Ids that some server on the way may take for more than one segment of a path. */
const PATHS = [
  ..."/\\",
  ...["a/b", "a\\b", "/a", "a/", "../files/x", "..\\files", "a..b", "x/../../models"],
  ...[
    "%2F",
    "..%2Ffiles%2Fx",
    "%2e%2e",
    "%2e",
    "%252E;x",
    "%2E.",
    "a%5Cb",
    "a%5cb",
    "%2e%2e%2ffiles",
  ],
  ...["%252F", "..%252Ffiles", "%252e%252e", "a%255cb", "%25252fa", "%2525252fa"],
  ...["%252%46", "%2%35%32F/", "%25%32%46", "%u002f%2F", `${"%25".repeat(9)}2F`],
];

/** Ids that look odd and are one segment for every server. */
const SEGMENTS = [
  "resp_1",
  "a.b",
  "a b",
  "ä?#&;=+",
  "100%",
  "%zz",
  "%20",
  "a%2Cb",
  "...x".slice(2),
];

for (const [type, kind] of Object.entries(KINDS)) {
  Deno.test(`an id of a ${type} that no upstream has returned never is more than a segment of a path`, async () => {
    const calls = gateway(() => ({}));
    for (const id of PATHS) {
      for (const [at, send] of operations(kind).entries()) {
        const refusal = refusalOf(await send(calls, id));
        assertEquals(refusal, [400, "invalid_value", kind.param], `${id}, operation ${at}`);
        assertEquals(calls.requests.length, 0);
      }
    }
  });

  Deno.test(`any other id of a ${type} reaches the provider that is named`, async () => {
    const calls = gateway(() => ({}));
    for (const id of SEGMENTS) {
      for (const send of operations(kind)) {
        await send(calls, id);
        assert(calls.lastRequest().includes(`${kind.path}/${encodeURIComponent(id)}`), id);
      }
    }
  });

  Deno.test(`an id of a ${type} that an upstream has returned is sent to it, encoded`, async () => {
    let id = "";
    const calls = gateway(() => kind.resource(id));
    for (id of PATHS) {
      for (const send of operations(kind)) {
        const before = calls.requests.length;
        await calls.post(kind.path, kind.create, FIRST);
        await send(calls, id);
        assertEquals(calls.requests.length, before + 2, id);
        assert(calls.lastRequest().includes(`${kind.path}/${encodeURIComponent(id)}`), id);
      }
    }
  });
}

Deno.test("an item ID that leads out of its list is refused before a request is sent", async () => {
  const leading = ["../x", "a/..", "a/../../../files/x", "..\\x", "a\\.\\b", "/./"];
  const encoded = ["%2e%2e%2fx", "..%2Fx", "%252e%252e%252fx", "a%5C..", "..;/x", "..;a=b%2Fx"];
  const calls = gateway(() => CONVERSATION);
  await calls.post("/conversations", {}, FIRST);
  for (const id of [...leading, ...encoded]) {
    for (const method of ["get", "delete"] as const) {
      const path = `/conversations/conv_1/items/${encodeURIComponent(id)}`;
      assertEquals(refusalOf(await calls[method](path)), [400, "invalid_value", "item_id"], id);
      assertEquals(calls.requests.length, 1);
    }
  }
});

Deno.test("another ID of an item is sent to the owner of its conversation, encoded", async () => {
  const calls = gateway(() => CONVERSATION);
  await calls.post("/conversations", {}, FIRST);
  for (const id of ["msg_1", "a/b", "/a", "a\\b", "a..b", "..a/b", "%2F", "a%2Fb", "x.", "..."]) {
    const path = `/conversations/conv_1/items/${encodeURIComponent(id)}`;
    await calls.get(path);
    assertEquals(calls.lastRequest(), `up GET ${path}`);
  }
});

Deno.test("an id with a slash that no provider is named for is unknown, as any other", async () => {
  for (const { path, param, unknown } of Object.values(KINDS)) {
    const calls = gateway(() => ({}));
    assertEquals(refusalOf(await calls.get(`${path}/a%2Fb`)), [404, unknown, param]);
    assertEquals(calls.requests.length, 0);
  }
});

Deno.test("an id of one or two dots is refused, also if an upstream has returned it", () => {
  for (const id of [".", ".."]) {
    const problems = [
      pathIdProblem(id, "p", true),
      pathIdProblem(id, "p", false),
      pathItemProblem(id, "p"),
    ];
    for (const problem of problems) {
      assertEquals([problem?.failure.kind, problem?.failure.at], ["invalid_value", "p"]);
    }
  }
});

Deno.test("an id that is encoded again and again is refused after a few decodings", () => {
  const often = `%${"25".repeat(1_000_000)}`;
  assert(pathIdProblem(often, "p", false) !== null);
  assert(pathItemProblem(often, "p") !== null);
  assertEquals(pathIdProblem("%25".repeat(1_000_000), "p", false), null);
});
