import type { Continuation } from "../../../../src/api/responses/state/continuation.ts";
import { nativeBody } from "../../../../src/api/responses/native/request.ts";
import { parseResponsesRequest } from "../../../../src/api/responses/request.ts";
import type { JsonObject } from "../../../../src/core/json/json.ts";
import { newDocument } from "../../../../src/formats/document.ts";
import { compile } from "../../../../src/gateway/compile.ts";
import type { RequiredTarget } from "../../../../src/call/inference.ts";
import { configOf } from "../../../config/parse.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { nativeConfig } from "../../../support/native_gateway.ts";
import { targetAt } from "../../../support/translated.ts";

const provider = compile(configOf(nativeConfig({ up: {} })), 1).providers.get("up");
assert(provider !== undefined);
const TARGET = targetAt(provider);

const OWNER: RequiredTarget = {
  account: null,
  provider,
  protocol: "responses",
  origin: null,
  param: "previous_response_id",
};
const OLD = { id: "i1", type: "opaque" };
const NEW = { role: "user", content: "new" };

/** The body that goes to a native target. */
function bodyOf(body: JsonObject, continuation: Continuation): unknown {
  const request = parseResponsesRequest(newDocument({ model: "m", input: [NEW], ...body }));
  assert(request.ok);
  const added = request.value.input.map((item, index) => ({ item, path: `input[${index}]` }));
  const context = { continuation, added, missing: null, requestedModel: "m" };
  return JSON.parse(nativeBody(request.value, context, TARGET));
}

Deno.test("a request without a continuation goes to a native target as it is", () => {
  assertEquals(bodyOf({}, { kind: "none" }), { model: "m", input: [NEW] });
});

Deno.test("a local continuation goes as items in place of the ID that named it", () => {
  for (const named of [{ previous_response_id: "r" }, { conversation: "c" }]) {
    const local = { kind: "local", history: [OLD], conversation: null, owner: null } as const;
    assertEquals(bodyOf(named, local), { model: "m", input: [OLD, NEW] });
  }
});

Deno.test("a response that the upstream stores is named by its ID, with the items after it", () => {
  const upstream = {
    kind: "upstream_response",
    previousResponseId: "r",
    tail: [],
    owner: OWNER,
  } as const;
  const named = { previous_response_id: "r" };
  assertEquals(bodyOf(named, upstream), { model: "m", input: [NEW], ...named });
  // A dialogue on a socket has gone on from a stored response with others that are not stored.
  const later = { previous_response_id: "later" };
  const tailed = bodyOf(later, { ...upstream, tail: [OLD] });
  assertEquals(tailed, { model: "m", input: [OLD, NEW], ...named });
});

Deno.test("a conversation that the upstream stores goes by its ID", () => {
  const conversation = { kind: "upstream_conversation", owner: OWNER } as const;
  const named = { conversation: { id: "c" } };
  assertEquals(bodyOf(named, conversation), { model: "m", input: [NEW], ...named });
});
