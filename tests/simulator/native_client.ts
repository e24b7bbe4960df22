import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { scriptedWorld } from "../support/world.ts";
import { sseData } from "./call_simulator.ts";

/** A client of one simulator. */
export interface NativeClient {
  /** Sends a request. `line` is the method and the path below `/compat/v1`. */
  call(line: string, body?: unknown, key?: string): Promise<Response>;
  /** Returns the response body as an object; fails if the status differs from `status`. */
  json(line: string, body?: unknown, status?: number, key?: string): Promise<JsonObject>;
}

/** Returns a client of a new simulator, whose state lasts as long as the test. */
export function newNativeClient(world = scriptedWorld()): NativeClient {
  const answer = newSimulator(world);

  function call(line: string, body?: unknown, key = "sk-one"): Promise<Response> {
    const [method = "", path = ""] = line.split(" ");
    const headers = { authorization: `Bearer ${key}` };
    const sent = body === undefined ? null : JSON.stringify(body);
    const init = { method, headers, body: sent };
    return answer(new Request(`http://sim/compat/v1${path}`, init));
  }

  return {
    call,
    async json(line, body, status = 200, key = "sk-one") {
      const response = await call(line, body, key);
      const value: unknown = await response.json();
      assertEquals(response.status, status, JSON.stringify(value));
      if (status >= 400) assertValid("ErrorResponse", value);
      return isObject(value) ? value : {};
    },
  };
}

/** Returns the events of a stream in which every record is an event. */
export function eventsIn(text: string): readonly JsonObject[] {
  return sseData(text).map(parseJson).filter(isObject);
}

/** Returns the objects of the list under `key`. */
export function listIn(value: JsonObject | undefined, key: string): readonly JsonObject[] {
  const list = value?.[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Returns the text of a response. */
export function textIn(response: JsonObject): string {
  return listIn(response, "output").flatMap((item) => listIn(item, "content"))
    .map(({ text, refusal }) => text ?? refusal ?? "").join("");
}

/** A function that the model may call. */
export const ADD: JsonObject = {
  type: "function",
  name: "add",
  parameters: { type: "object", properties: { a: { type: "integer" } }, required: ["a"] },
};
