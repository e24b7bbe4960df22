import type { Cancellation } from "../core/cancellation.ts";
import type { JsonObject } from "../core/json/json.ts";
import { bodySource, type Incoming, type World } from "../core/world.ts";

/** Sends a JSON body with POST and returns the response; rejects when it is cancelled. */
export async function postJson(
  world: Pick<World, "send">,
  url: string,
  body: JsonObject,
  cancellation: Cancellation,
): Promise<Incoming> {
  return await world.send(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    cancellation,
  });
}

/** Returns the body of a response as text, piece by piece as it arrives. */
export async function* texts(response: Incoming): AsyncGenerator<string, void, void> {
  const body = bodySource(response);
  const decoder = new TextDecoder();
  for (let bytes = await body?.read(); bytes; bytes = await body?.read()) {
    yield decoder.decode(bytes, { stream: true });
  }
}

/** Returns the whole body of a response as text. */
export async function wholeText(response: Incoming): Promise<string> {
  let whole = "";
  for await (const text of texts(response)) whole += text;
  return whole;
}
