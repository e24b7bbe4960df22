import { newPayload } from "./payload.ts";
import type { UpstreamRequest } from "./wire.ts";

/**
 * Returns a POST request. The body is serialized when it is sent, because most prepared targets are
 * never called.
 */
export function newPostRequest(
  path: string,
  request: Readonly<Record<string, unknown>>,
): UpstreamRequest {
  return { method: "POST", path, payload: newPayload(() => JSON.stringify(request)) };
}
