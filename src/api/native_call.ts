import type { Usage } from "../core/events.ts";
import type { JsonDocument, JsonObject } from "../core/json/json.ts";
import type { HttpResponse, Reply, UpstreamResponse } from "../core/reply.ts";
import { fault, type Result, success } from "../core/result.ts";
import { forward } from "../exchange.ts";
import { hasKeyTwice } from "../formats/document.ts";
import { utf8Bytes } from "../formats/utf8.ts";
import type { Call } from "../call/call.ts";
import type { ResponseHandler } from "../call/inference.ts";
import { newPayload } from "../wires/payload.ts";
import type { Provider, UpstreamRequest } from "../wires/wire.ts";
import { answerDocument } from "./answer_document.ts";

/** A native resource has at most so many bytes. */
export const RESOURCE_LIMIT = 16 * 1024 * 1024;

/** A call that an upstream serves from its own state. */
export interface NativeCall {
  readonly provider: Provider;
  readonly method: UpstreamRequest["method"];
  /** Segments below the provider's base, not encoded. What a client wrote was checked: see identifier.ts. */
  readonly path: readonly string[];
  readonly query?: URLSearchParams;
  /** JSON text; null when none is sent. */
  readonly body?: string | null;
  /** The bare model that is asked for; null when none is. */
  readonly model?: string | null;
  /** Whether a resource is what was asked for; one that is not is a fault and settles nothing. */
  isValid(resource: JsonObject): boolean;
  /**
   * What a success without a body becomes, whatever its 2xx status: a resource, or null for status 204.
   * Absent where a body is needed.
   */
  readonly withoutBody?: JsonObject | null;
  /** What making the resource took; a resource that was only looked up took nothing. */
  usage?(resource: JsonObject): Result<Usage | null>;
  /** Stores what follows from the valid resource, before it is sent to the client; null for nothing. */
  settle?(resource: JsonObject): Promise<Result<void>> | null;
  /** Returns what the client gets instead of the valid resource; null leaves its bytes as they are. */
  rewritten?(document: JsonDocument): Promise<Result<string | null>>;
  /** Reads something else than one JSON resource. */
  readonly reader?: ResponseHandler;
}

/**
 * Passes a call on to the one upstream that can serve it, and its answer back, byte for byte. Never
 * sent twice. An answer that is not the resource that was asked for is `invalid_upstream_response`.
 */
export async function callNative(call: Call, native: NativeCall): Promise<Result<Reply>> {
  const { provider, method, body = null, model = null } = native;
  const accept = call.headers.get("accept");
  const received: Received = { document: null };
  const reply = await forward(call, {
    target: { provider, wire: provider.wire, model: model ?? "" },
    request: {
      method,
      path: pathOf(native),
      payload: body === null ? null : newPayload(() => body),
      headers: accept === null ? {} : { accept },
    },
    hasSideEffects: true,
    responseHandler: () => native.reader ?? readerOf(native, received),
    onComplete: ({ resource }) => resource === null ? null : native.settle?.(resource) ?? null,
  });
  return reply.ok ? await rewrite(native, received, reply.value) : reply;
}

/** The valid resource of an answer that had one. */
interface Received {
  document: JsonDocument | null;
}

async function rewrite(
  native: NativeCall,
  { document }: Received,
  reply: Reply,
): Promise<Result<Reply>> {
  if (native.rewritten === undefined || document === null || reply.kind !== "whole") {
    return success(reply);
  }
  const text = await native.rewritten(document);
  if (!text.ok) return text;
  if (text.value === null) return success(reply);
  return success({ kind: "whole", answer: { ...reply.answer, body: utf8Bytes(text.value) } });
}

function pathOf({ path, query }: NativeCall): string {
  const search = query?.toString() ?? "";
  return `/${path.map(encodeURIComponent).join("/")}${search === "" ? "" : `?${search}`}`;
}

function readerOf(
  { isValid, usage, withoutBody }: NativeCall,
  received: Received,
): ResponseHandler {
  return {
    kind: "answer",
    limit: RESOURCE_LIMIT,
    takesAnySuccess: withoutBody !== undefined,
    read(answer) {
      if (withoutBody !== undefined && answer.body.length === 0) {
        const outcome = { resource: withoutBody ?? {}, usage: null };
        return success({ answer: answerWithoutBody(answer, withoutBody), outcome });
      }
      const document = answerDocument(answer);
      if (!document.ok) return document;
      const { value: resource, members } = document.value;
      // No reader may take another id from the same bytes.
      if (hasKeyTwice(members, resource) || !isValid(resource)) {
        return fault(
          "invalid_upstream_response",
          "The provider's answer is not what was asked for.",
        );
      }
      const counted = usage?.(resource) ?? success(null);
      if (!counted.ok) return counted;
      received.document = document.value;
      return success({
        answer: { ...answer, headers: answer.headers() },
        outcome: { resource, usage: counted.value },
      });
    },
  };
}

function answerWithoutBody(answer: UpstreamResponse, resource: JsonObject | null): HttpResponse {
  const { "content-type": _theirs, ...headers } = answer.headers();
  if (resource === null) return { status: 204, headers, body: new Uint8Array() };
  return {
    status: 200,
    headers: { ...headers, "content-type": "application/json" },
    body: utf8Bytes(JSON.stringify(resource)),
  };
}

/** Whether a resource is of this type and has this id. */
export function isResource(resource: JsonObject, object: string, id: string): boolean {
  return resource.object === object && resource.id === id;
}

/** Whether a resource says that the one with this id has been deleted. */
export function isDeleted(resource: JsonObject, object: string, id: string): boolean {
  return isResource(resource, object, id) && resource.deleted === true;
}

/** Whether a resource is a list. */
export function isList({ object, data }: JsonObject): boolean {
  return object === "list" && Array.isArray(data);
}
