import { isObject, type JsonValue, parseJson } from "../../src/core/json/json.ts";

/** Returns the member of a JSON value at a path of names and positions; undefined without it. */
export function at(value: JsonValue | undefined, ...path: readonly (string | number)[]) {
  let found = value;
  for (const step of path) {
    if (typeof step === "number") found = Array.isArray(found) ? found.at(step) : undefined;
    else found = isObject(found) ? found[step] : undefined;
  }
  return found;
}

/** Returns the elements of a JSON array; none for any other value. */
export function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the JSON values of the records of an event stream, without its end marker. */
export function sseRecords(body: string): readonly (JsonValue | undefined)[] {
  return body.split("\n\n").flatMap((block) => {
    const data = block.split("\n").filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).replace(/^ /, "")).join("\n");
    return data === "" || data === "[DONE]" ? [] : [parseJson(data)];
  });
}

/** Returns a JSON value if it is a text; otherwise the empty text. */
export function textAt(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Returns a JSON value if it is a number; otherwise null. */
export function numberAt(value: JsonValue | undefined): number | null {
  return typeof value === "number" ? value : null;
}
