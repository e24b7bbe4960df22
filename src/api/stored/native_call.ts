import type { Usage } from "../../core/stream/events.ts";
import type { HeaderFields } from "../../core/header_fields.ts";
import type { JsonDocument, JsonObject } from "../../core/json/json.ts";
import type { HttpResponse, Reply, UpstreamResponse } from "../../core/stream/reply.ts";
import {
  invalidResponse,
  refuse,
  responseTooLarge,
  type Result,
  success,
} from "../../core/failure/result.ts";
import { forward } from "../../exchange.ts";
import { hasKeyTwice } from "../../formats/document.ts";
import type { MultipartBody } from "../../formats/multipart.ts";
import { utf8Bytes } from "../../formats/utf8.ts";
import { prepareForAccounts } from "../../routing/accounts.ts";
import type { Call } from "../../call/call.ts";
import { awaitTurn } from "../../call/call_turns.ts";
import { turnForText } from "../../traffic/loop_turns.ts";
import type { Place, ResponseHandler } from "../../call/inference.ts";
import { newPayload, type Payload } from "../../wires/payload.ts";
import { lostFields } from "../../wires/prompt_encoder.ts";
import type { Sender, Target, UpstreamRequest } from "../../wires/wire.ts";
import { jsonHeaders, parseResponseDocument } from "./response_document.ts";

/** Largest body of a native resource. */
export const MAX_RESOURCE_BYTES = 16 * 1024 * 1024;

/**
 * Maximum number of objects of a list whose owners are looked up, all together: OpenAI lists at
 * most as many files. A list that the gateway does not change may have more.
 */
export const MAX_LIST_OBJECTS = 10_000;

/**
 * A call for an object that an upstream stores. Without the account of an owner, any key may be
 * used.
 */
export interface NativeCall extends Place {
  readonly method: UpstreamRequest["method"];
  /**
   * Path segments below the provider's base URL, not encoded. Ids of clients were checked: see
   * identifier.ts.
   */
  readonly path: readonly string[];
  readonly query?: URLSearchParams;
  /** JSON text of the request body; null if none is sent. */
  readonly body?: string | null;
  /** Paths of the client's request fields of which the body holds only a part; absent for none. */
  readonly lossy?: readonly string[];
  /** A multipart body, instead of `body`. */
  readonly form?: MultipartBody;
  /** Names of client headers that are sent on, besides `accept`. */
  readonly copiedHeaders?: readonly string[];
  /** True for a call that is retried as `forward` says; absent for one that is sent once. */
  readonly isRetried?: true;
  /** The requested bare model. */
  readonly model?: string | null;
  /**
   * True if a resource is the requested one. Any other resource is a fault, and nothing is stored.
   */
  isValid(resource: JsonObject): boolean;
  /**
   * Resource to return for a 2xx response without a body; null returns status 204. Absent if a body
   * is required.
   */
  readonly withoutBody?: JsonObject | null;
  /**
   * True if a resource may come with another status of success than 200, which the client gets too.
   */
  readonly takesAnySuccess?: true;
  /** Returns the usage for creating the resource; absent for a resource that is only retrieved. */
  usage?(resource: JsonObject): Result<Usage | null>;
  /** Charge of the client; absent for none. */
  readonly billing?: "tokens" | "tokens and cost";
  /** True if the resource is created and its owner must be stored; false when absent. */
  readonly isCreation?: boolean;
  /**
   * Stores the state that follows from a valid resource of an account, before the response is sent;
   * null for nothing.
   */
  onComplete?(resource: JsonObject, sender: Sender): Promise<Result<void>> | null;
  /**
   * Returns the body for the client in place of the valid resource; null forwards the same bytes.
   */
  rewritten?(document: JsonDocument): Promise<Result<string | null>>;
  /** Handler for a response that is not one JSON resource. */
  readonly reader?: ResponseHandler;
}

/** Returns the body of a native call; null if none is sent. */
function payloadOf({ body = null, form }: NativeCall): Payload | null {
  if (form !== undefined) return { text: () => "", bytes: () => form.pieces };
  return body === null ? null : newPayload(() => body);
}

/**
 * Sends a call to the only upstream that can serve it, and returns the response byte for byte. The
 * request is never retried. A response without the requested resource is
 * `invalid_upstream_response`.
 */
export async function callNative(call: Call, native: NativeCall): Promise<Result<Reply>> {
  const { provider, account, method, form, model = null, isRetried = false, lossy = [] } = native;
  const received: Received = { document: null };
  const open = { provider, wire: provider.wire, model: model ?? "" };
  const candidate = prepareForAccounts(open, account, (target: Target) =>
    success({
      target,
      request: {
        method,
        path: pathOf(native),
        payload: payloadOf(native),
        headers: copiedHeaders(call, native),
        ...form !== undefined && { versionHeaders: { "content-type": form.contentType } },
        ...lostFields(lossy, target),
      },
      // A read that is retried finds the same object.
      hasSideEffects: !isRetried || method !== "GET",
      ...native.billing !== "tokens and cost" && { billing: native.billing ?? "none" },
      ...native.isCreation === true && { storage: "required" },
      responseHandler: () => native.reader ?? newResponseHandler(native, received),
      onComplete: ({ resource }) =>
        resource === null ? null : native.onComplete?.(resource, target) ?? null,
    }));
  if (candidate === null) {
    return refuse("model_not_found", "No key of the provider serves the requested model.", "model");
  }
  if (!candidate.ok) return candidate;
  const reply = await forward(call, candidate.value, isRetried);
  return reply.ok ? await rewrite(call, native, received, reply.value) : reply;
}

/** The valid resource of a response. */
interface Received {
  document: JsonDocument | null;
}

async function rewrite(
  call: Call,
  native: NativeCall,
  { document }: Received,
  reply: Reply,
): Promise<Result<Reply>> {
  if (native.rewritten === undefined || document === null || reply.kind !== "whole") {
    return success(reply);
  }
  const turn = turnForText(call.turns, document.text.length, "large", call.cancellation);
  const stopped = await awaitTurn(call, turn);
  if (stopped !== null) return stopped;
  const text = await native.rewritten(document);
  if (!text.ok) return text;
  if (text.value === null) return success(reply);
  return success({ kind: "whole", response: { ...reply.response, body: utf8Bytes(text.value) } });
}

function copiedHeaders(call: Call, { copiedHeaders = [] }: NativeCall): HeaderFields {
  const found = ["accept", ...copiedHeaders].flatMap((name) => {
    const value = call.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(found);
}

function pathOf({ path, query }: NativeCall): string {
  const search = query?.toString() ?? "";
  return `/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

function newResponseHandler(
  { isValid, usage, withoutBody, takesAnySuccess, rewritten }: NativeCall,
  received: Received,
): ResponseHandler {
  return {
    kind: "whole",
    limit: MAX_RESOURCE_BYTES,
    takesAnySuccess: takesAnySuccess === true || withoutBody !== undefined,
    read(response) {
      if (withoutBody !== undefined && response.body.length === 0) {
        const outcome = { resource: withoutBody ?? {}, usage: null };
        return success({ response: responseWithoutBody(response, withoutBody), outcome });
      }
      const document = parseResponseDocument(response);
      if (!document.ok) return document;
      const { value: resource, members } = document.value;
      // With a repeated key, another parser could take a different id from the same bytes.
      if (hasKeyTwice(members, resource) || !isValid(resource)) {
        return invalidResponse("The provider's response is not the requested resource.");
      }
      const { data } = resource;
      if (rewritten !== undefined && Array.isArray(data) && data.length > MAX_LIST_OBJECTS) {
        return responseTooLarge(`The provider's list has more than ${MAX_LIST_OBJECTS} objects.`);
      }
      const counted = usage?.(resource) ?? success(null);
      if (!counted.ok) return counted;
      received.document = document.value;
      return success({
        response: {
          ...response,
          status: takesAnySuccess === true ? response.status : 200,
          headers: jsonHeaders(response),
        },
        outcome: { resource, usage: counted.value },
      });
    },
  };
}

function responseWithoutBody(
  response: UpstreamResponse,
  resource: JsonObject | null,
): HttpResponse {
  const { "content-type": _unused, ...headers } = response.headers();
  if (resource === null) return { status: 204, headers, body: new Uint8Array() };
  return {
    status: 200,
    headers: { ...headers, "content-type": "application/json" },
    body: utf8Bytes(JSON.stringify(resource)),
  };
}

/** True if a resource has this type and this id. */
export function isResource(resource: JsonObject, object: string, id: string): boolean {
  return resource.object === object && resource.id === id;
}

/** True if a resource confirms the deletion of the object with this id. */
export function isDeleted(resource: JsonObject, object: string, id: string): boolean {
  return isResource(resource, object, id) && resource.deleted === true;
}

/** True if a resource is a list. */
export function isList({ object, data }: JsonObject): boolean {
  return object === "list" && Array.isArray(data);
}
