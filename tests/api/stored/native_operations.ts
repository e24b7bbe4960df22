import { ConnectionError } from "../../../src/core/failure/connection_error.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import type { NativeType } from "./bound_kinds.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { bindingOf } from "../../support/object_store.ts";
import {
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  type ScriptedResponse,
  type SentRequest,
} from "../../support/native_gateway.ts";
import { refusalOf, type Reply } from "../../support/state_call.ts";

/** An object that its upstream keeps, as it comes to be known. */
export interface NativeObject {
  readonly type: NativeType;
  readonly id: string;
  readonly path: string;
  /** Body of the POST that creates one. */
  readonly create: JsonObject;
  /** Response of the upstream to that. */
  readonly created: JsonObject | string;
  /** The capabilities that its operations need. */
  readonly can: readonly string[];
  /** How errors name its id, and the one of an unknown id. */
  readonly param: string;
  readonly unknown: string;
}

/** An operation on it, and everything that may come of it. */
export interface NativeOperation {
  readonly send: (
    calls: NativeGateway,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Reply>;
  /** Method and path of the upstream call. */
  readonly asks: string;
  /** Body of the upstream request; none unless given. */
  readonly body?: string;
  /** The answer that is right. */
  readonly right: string;
  /** Responses that do not fit the request. */
  readonly wrong: readonly JsonObject[];
  /** The object is gone afterwards. */
  readonly unbinds?: boolean;
  /** Response of the client to a success without a body; absent where that is a wrong answer. */
  readonly withoutBody?: readonly [status: number, text: string];
}

/**
 * A gateway with one object of the account `first`, whose upstreams then answer as the script says.
 */
export async function withNativeObject(
  object: NativeObject,
  script: (request: SentRequest) => ScriptedResponse | Error,
  config = twoAccounts(object),
): Promise<NativeGateway> {
  const isCreate = ({ method, path }: SentRequest) => method === "POST" && path === object.path;
  const calls = nativeGateway(
    config,
    (request) => isCreate(request) ? { body: object.created } : script(request),
  );
  await calls.post(object.path, object.create, naming("first"));
  assertEquals(await stateIn(calls, object), "bound");
  return calls;
}

function twoAccounts({ can }: NativeObject): string {
  return nativeConfig({ first: { can }, second: { can } });
}

async function stateIn(
  calls: NativeGateway,
  { type, id }: NativeObject,
): Promise<string | undefined> {
  return (await bindingOf(calls, type, id))?.kind;
}

const MAX_RESOURCE_BYTES = 16 * 1024 * 1024;

/** Headers of a client, and what of them an upstream gets. */
const CLIENT_HEADERS = {
  accept: "application/json;q=0.9",
  authorization: "Bearer theirs",
  "x-extra": "1",
  "compat-beta": "b=1",
};
const SENT_HEADERS = ["application/json;q=0.9", "Bearer sk-first", null, "b=1"];

/** Tests what holds for every operation on an object that its upstream keeps. */
export function testOperations(
  object: NativeObject,
  operations: Readonly<Record<string, NativeOperation>>,
): void {
  const [first] = Object.entries(operations);
  if (first !== undefined) testLarge(object, ...first);
  for (const [name, operation] of Object.entries(operations)) {
    testBytes(object, name, operation);
    testWrong(object, name, operation);
    testWithoutBody(object, name, operation);
    testFailures(object, name, operation);
    testOwner(object, name, operation);
    testUnknown(object, name, operation);
  }
}

function testBytes(object: NativeObject, name: string, operation: NativeOperation): void {
  const { send, asks, body = "", right, unbinds = false } = operation;
  Deno.test(`${name} goes to the owner as it is, and its answer comes back byte for byte`, async () => {
    const headers = {
      "content-type": "application/json",
      "openai-processing-ms": "9",
      "x-request-id": "theirs",
      "etag": "e",
    };
    const calls = await withNativeObject(object, () => ({ headers, body: right }));
    const answer = await send(calls, CLIENT_HEADERS);
    assertEquals([answer.status, answer.text], [200, right]);
    assertEquals([calls.lastRequest(), calls.requests[1]?.body], [`first ${asks}`, body]);
    const sent = Object.keys(CLIENT_HEADERS).map((header) =>
      calls.requests[1]?.headers.get(header)
    );
    assertEquals(sent, SENT_HEADERS);
    const shown = ["openai-processing-ms", "etag", "x-gateway-provider"];
    assertEquals(shown.map((header) => answer.headers.get(header)), ["9", null, "first"]);
    assertEquals(
      answer.headers.get("x-request-id"),
      answer.headers.get("x-gateway-request-id"),
    );
    assertEquals(await stateIn(calls, object), unbinds ? undefined : "bound");
  });
}

function testWithoutBody(object: NativeObject, name: string, operation: NativeOperation): void {
  const { send, right, wrong, withoutBody, unbinds = false } = operation;
  if (withoutBody === undefined) {
    Deno.test(`${name} without a body in its answer is a 502 that leaves the binding alone`, async () => {
      for (const [status, code] of [[200, "response"], [202, "status"], [204, "status"]] as const) {
        const calls = await withNativeObject(object, () => ({ status, body: "" }));
        const answer = await send(calls);
        assertEquals([answer.status, answer.error.code], [502, `invalid_upstream_${code}`]);
        assertEquals(await stateIn(calls, object), "bound");
      }
    });
    return;
  }
  Deno.test(`${name} without a body in its answer has done its work, whatever the 2xx status`, async () => {
    for (const status of [200, 202, 204, 205]) {
      const headers = { "openai-processing-ms": "9" };
      const calls = await withNativeObject(object, () => ({ status, headers, body: "" }));
      const answer = await send(calls);
      assertEquals([answer.status, answer.text], withoutBody);
      const type = answer.text === "" ? null : "application/json";
      const shown = ["openai-processing-ms", "content-type"];
      assertEquals(shown.map((header) => answer.headers.get(header)), ["9", type]);
      assertEquals(await stateIn(calls, object), unbinds ? undefined : "bound");
    }
  });

  Deno.test(`${name} with another 2xx status and a body is judged by the body`, async () => {
    const calls = await withNativeObject(object, () => ({ status: 202, body: right }));
    const answer = await send(calls);
    assertEquals([answer.status, answer.text], [200, right]);
    assertEquals(await stateIn(calls, object), unbinds ? undefined : "bound");
    for (const body of [...wrong.map((value) => JSON.stringify(value)), "gone", " "]) {
      const refusing = await withNativeObject(object, () => ({ status: 202, body }));
      const refused = await send(refusing);
      assertEquals([refused.status, refused.error.code], [502, "invalid_upstream_response"], body);
      assertEquals(await stateIn(refusing, object), "bound");
    }
  });
}

function testWrong(object: NativeObject, name: string, { send, right, wrong }: NativeOperation) {
  Deno.test(`${name} with a wrong answer is a 502 that leaves the binding alone`, async () => {
    const twice = right.replace("{", '{"id":"x","object":"x","id":"x","object":"x",');
    for (const body of [...wrong.map((value) => JSON.stringify(value)), " ", `${right}{}`, twice]) {
      const calls = await withNativeObject(object, () => ({ body }));
      const answer = await send(calls);
      assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"], body);
      assertEquals(await stateIn(calls, object), "bound");
    }
  });
}

/** All operations read their answers in one function, so one of them shows its bound. */
function testLarge(object: NativeObject, name: string, { send, right }: NativeOperation): void {
  Deno.test(`${name} takes at most 16 MiB`, async () => {
    const room = MAX_RESOURCE_BYTES - new TextEncoder().encode(right).length;
    const fits = await withNativeObject(object, () => ({ body: right + " ".repeat(room) }));
    assertEquals((await send(fits)).status, 200);
    const large = await withNativeObject(object, () => ({ body: right + " ".repeat(room + 1) }));
    const answer = await send(large);
    assertEquals([answer.status, answer.error.code], [502, "upstream_response_too_large"]);
    assertEquals(await stateIn(large, object), "bound");
  });
}

function testFailures(object: NativeObject, name: string, { send }: NativeOperation): void {
  Deno.test(`${name} is sent once, to its owner, whatever goes wrong`, async () => {
    const failures: (ScriptedResponse | Error)[] = [404, 429, 500, 503, 529, 302].map((status) => (
      { status, body: "" }
    ));
    for (const says of [...failures, new ConnectionError("refused", "nothing listens")]) {
      const calls = await withNativeObject(object, () => says);
      const answer = await send(calls);
      assert(answer.status >= 400);
      assertEquals(calls.requests.map(({ host }) => host), ["first", "first"]);
      assertEquals(await stateIn(calls, object), "bound");
    }
  });
}

function testOwner(object: NativeObject, name: string, { send, right }: NativeOperation): void {
  const { can, param } = object;
  const incapable = [400, "unsupported_feature", "provider"];

  Deno.test(`${name} sends nothing upstream if its owner is stale, another account or lacks the capability`, async () => {
    const calls = await withNativeObject(object, () => ({ body: right }));
    const other = await send(calls, naming("second"));
    assertEquals(refusalOf(other), [400, "invalid_value", "provider"]);
    calls.reload(nativeConfig({ first: { can, key: "sk-new" }, second: { can } }));
    assertEquals(refusalOf(await send(calls)), [400, "provider_binding_stale", param]);
    calls.reload(nativeConfig({ first: {}, second: { can } }));
    assertEquals(refusalOf(await send(calls)), incapable);
    assertEquals(refusalOf(await send(calls, naming("first"))), incapable);
    assertEquals(calls.requests.length, 1);
    calls.reload(twoAccounts(object));
    assertEquals((await send(calls)).status, 200);
  });

  Deno.test(`${name} in a conflict reaches who is named, and ends nothing`, async () => {
    const calls = await withNativeObject(object, () => ({ body: right }));
    await calls.post(object.path, object.create, naming("second"));
    const conflict = [400, "provider_binding_conflict", param];
    assertEquals([refusalOf(await send(calls)), calls.requests.length], [conflict, 2]);
    for (const provider of ["first", "second"]) {
      assertEquals((await send(calls, naming(provider))).text, right);
      assertEquals(calls.requests.at(-1)?.host, provider);
    }
    assertEquals(refusalOf(await send(calls)), conflict);
  });
}

function testUnknown(object: NativeObject, name: string, { send, right }: NativeOperation): void {
  Deno.test(`${name} of an unknown ID requires the provider header, even if only one provider could serve it`, async () => {
    const config = nativeConfig({ first: { can: object.can }, second: {} });
    const calls = await withNativeObject(object, () => ({ body: right }), config);
    await calls.world.advance(30 * 60_000);
    assertEquals(refusalOf(await send(calls)), [404, object.unknown, object.param]);
    const incapable = [400, "unsupported_feature", "provider"];
    assertEquals(refusalOf(await send(calls, naming("second"))), incapable);
    assertEquals(calls.requests.length, 1);
    assertEquals((await send(calls, naming("first"))).text, right);
  });
}
