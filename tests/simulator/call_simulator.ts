import { newSimulator } from "../../src/simulator/simulator.ts";
import { scriptedWorld } from "../support/world.ts";

const HEADERS: Readonly<Record<string, Record<string, string>>> = {
  "/messages/v1/messages": { "x-api-key": "any", "anthropic-version": "2023-06-01" },
};

/** Calls a new simulator. A body is sent as a JSON POST with the headers that the path requires. */
export function callSimulator(
  path: string,
  body?: unknown,
  init: RequestInit = {},
  world = scriptedWorld(),
): Promise<Response> {
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const headers = { "content-type": "application/json", ...HEADERS[path] };
  return newSimulator(world)(new Request(`http://sim${path}`, { ...sent, headers, ...init }));
}

/** Returns the data of each record of an SSE body, in order. */
export function sseData(text: string): readonly string[] {
  return text.split("\n\n").filter((record) => record !== "")
    .map((record) => record.replace(/^(?:event: .*\n)?data: /, ""));
}
