import type { World } from "../../core/world.ts";
import type { Peer } from "../peer.ts";

/** An answer has this long to reach its client before the connection ends. */
const FINAL_BYTES_DELAY_MS = 100;

/**
 * The answer to a request whose body is still being waited for, so that its connection ends as well.
 * The runtime keeps such a connection open until more of the body comes, whatever the answer says, so
 * the connection of the peer is shut down once the answer is out. Where that is not possible, or the
 * connection may carry other requests (HTTP/2), the answer itself is broken off behind its last byte.
 */
export async function endConnection(
  answer: Response,
  headers: Headers,
  { disconnect }: Peer,
  world: Pick<World, "after">,
): Promise<Response> {
  // Requests over HTTP/2 have no such header here.
  if (disconnect !== undefined && headers.has("host")) {
    world.after(FINAL_BYTES_DELAY_MS, disconnect);
    return answer;
  }
  const bytes = await answer.bytes();
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      world.after(
        FINAL_BYTES_DELAY_MS,
        () => controller.error(new Error("the connection is ended")),
      );
    },
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
}
