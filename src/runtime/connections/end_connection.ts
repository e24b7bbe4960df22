// Until `Deno.serve` ends a connection after a response with `Connection: close`.

import type { World } from "../../core/world.ts";
import type { Peer } from "../peer.ts";
import type { RequestHeaders } from "../../core/header_fields.ts";

/** Time for a response to reach its client before the connection ends. */
const FINAL_BYTES_DELAY_MS = 100;

/**
 * Returns the response to a request whose body has not arrived completely, so that its connection
 * ends as well. The runtime keeps such a connection open until more of the body arrives, whatever
 * headers the response has, so the connection is shut down once the response is written. If that is
 * not possible, or the connection may carry more requests (HTTP/2), the response body is aborted
 * after its last byte.
 */
export async function endConnection(
  response: Response,
  headers: RequestHeaders,
  { disconnect }: Peer,
  world: Pick<World, "after">,
): Promise<Response> {
  // Requests over HTTP/2 have no `Host` header here.
  if (disconnect !== undefined && headers.has("host")) {
    world.after(FINAL_BYTES_DELAY_MS, disconnect);
    return response;
  }
  const bytes = await response.bytes();
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      world.after(
        FINAL_BYTES_DELAY_MS,
        () => controller.error(new Error("the connection is ended")),
      );
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
