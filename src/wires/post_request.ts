import { newPayload } from "./payload.ts";
import type { ResponsePromise } from "./verified/response_promise.ts";
import type { UpstreamRequest } from "./wire.ts";

/**
 * Returns a POST request. The body is serialized when it is sent, because most prepared targets are
 * never called. `promises` are the fields that the gateway checks on the response.
 */
export function newPostRequest(
  path: string,
  request: Readonly<Record<string, unknown>>,
  promises: readonly ResponsePromise[] = NO_PROMISES,
): UpstreamRequest {
  const payload = newPayload(() => JSON.stringify(request));
  return { method: "POST", path, payload, ...promises.length > 0 && { promises } };
}

const NO_PROMISES: readonly ResponsePromise[] = [];
