import type { Call } from "../call/call.ts";
import type { RequestHeaders } from "../core/header_fields.ts";
import { announcesBody, declaredLength } from "./body.ts";
import { MAX_SMALL_BODY_BYTES } from "./receive_body.ts";

/** Maximum of the bodies that are read at the same time without being used, in bytes. */
const MAX_SUM_BYTES = 8 * 1024 * 1024;

/** Reads the body of a request that is refused without it, unless its connection ends. */
export type DiscardBody = (
  call: Pick<Call, "headers" | "responseHeaders">,
  request: Request,
) => void;

/**
 * Returns the treatment of bodies that nothing uses. The runtime closes the connection of a request
 * whose body was not read, and then the next request on it is lost. A small body is read while the
 * response is sent, which needs one read that begins before: the runtime reads no piece of a body
 * after the response. It ends with the connection at the latest, by its timeouts. For any other
 * body, and when too many wait, the response says that the connection ends.
 */
export function newDiscardBody(): DiscardBody {
  let sumBytes = 0;
  return ({ headers, responseHeaders }, request) => {
    if (responseHeaders["connection"] === "close" || !announcesBody(headers)) return;
    const bytes = readableBytes(headers, request.method);
    if (bytes > MAX_SMALL_BODY_BYTES || sumBytes + bytes > MAX_SUM_BYTES) {
      responseHeaders["connection"] = "close";
      return;
    }
    sumBytes += bytes;
    const end = () => void (sumBytes -= bytes);
    request.bytes().then(end, end);
  };
}

/**
 * Returns the size of a body that can be read after the response; `Infinity` for any other one, and
 * for that of a method without one, which the runtime does not give.
 */
function readableBytes(headers: RequestHeaders, method: string): number {
  const isReadable = method !== "GET" && method !== "HEAD" && !headers.has("transfer-encoding");
  return isReadable ? declaredLength(headers) ?? Infinity : Infinity;
}
