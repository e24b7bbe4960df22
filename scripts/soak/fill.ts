import { newSoakClient, textIn } from "./client.ts";
import type { RecordingUpstream } from "./upstream.ts";

/**
 * Objects that are created and read, and the length of the text of each: two workers remember up to
 * 8 MiB of items of responses and as many of conversations, so that both have read more than that.
 */
const OBJECT_COUNT = 200, TEXT_CHARS = 120_000;

/** Number of the first client, above those of the uses. */
const MIN_FILLING_NUMBER = 2_000_000_000;

/**
 * Fills the memory of what a gateway has read from its store, which grows up to its bound in the
 * first hours: what grows later is no filling of it.
 */
export async function fillMemory(url: string, upstream: RecordingUpstream): Promise<void> {
  for (let at = 0; at < OBJECT_COUNT; at++) {
    // Another connection each time, so that each worker reads a part.
    using http = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    const client = newSoakClient(
      { number: MIN_FILLING_NUMBER + at, turn: at },
      url,
      http,
      upstream,
    );
    const text = `${client.mark} `.padEnd(TEXT_CHARS, "filled ");
    const model = "compat/sim-length";
    const response = await client.ok("POST", "/v1/responses", { model, input: text });
    await client.ok("GET", `/v1/responses/${textIn(response, "id")}/input_items`);
    const items = [{ type: "message", role: "user", content: text }];
    const conversation = await client.ok("POST", "/v1/conversations", { items });
    await client.ok("GET", `/v1/conversations/${textIn(conversation, "id")}/items`);
    client.simulated();
  }
}
