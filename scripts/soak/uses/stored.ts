import type { JsonValue } from "../../../src/core/json/json.ts";
import { at, list } from "../answers/json_at.ts";
import { demand, type Received, type SoakClient } from "../client.ts";

/**
 * Returns the elements of a page. Throws unless its names of the first and the last one are right.
 */
export function pageOf(received: Received): readonly JsonValue[] {
  const { object, data, first_id: first, last_id: last } = received.json;
  const elements = list(data);
  sameJson(
    [object, first, last],
    ["list", at(elements[0], "id") ?? null, at(elements.at(-1), "id") ?? null],
    "the page",
  );
  return elements;
}

/** Returns the elements of a page that must be the whole list. */
export function listed(received: Received): readonly JsonValue[] {
  demand(received.json.has_more === false, `the page is not the whole list: ${received.text}`);
  return pageOf(received);
}

/** Returns the text of an item of a list. */
export function textOf(item: JsonValue): string {
  return list(at(item, "content")).map((part) => at(part, "text")).join("");
}

/**
 * Deletes an object. Throws unless the response of the deletion names it, or has no body where it
 * has no `object`, and the object is gone.
 */
export async function remove(
  client: SoakClient,
  path: string,
  { id, object }: { readonly id: string; readonly object?: string },
): Promise<void> {
  const url = `${path}/${id}`;
  const received = await client.ok("DELETE", url);
  const expected = object === undefined ? {} : { id, object, deleted: true };
  const status = object === undefined ? 204 : 200;
  demand(received.status === status, `DELETE ${url}: status ${received.status}`);
  sameJson(received.json, expected, "the response of the deletion");
  const response = await client.send("GET", url);
  await response.text();
  demand(response.status === 404, `${url} is still there: status ${response.status}`);
}

/** Throws unless two JSON values are the same, whatever the order of their members. */
export function sameJson(value: unknown, expected: unknown, what: string): void {
  const texts = [value, expected].map((each) => JSON.stringify(sorted(each)));
  demand(texts[0] === texts[1], `${what} is ${texts[0]}, not ${texts[1]}`);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([one], [other]) => one < other ? -1 : 1)
      .map(([name, member]) => [name, sorted(member)]),
  );
}
