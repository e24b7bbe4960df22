import { isObject, type JsonObject, type JsonValue, parseJson } from "../../src/core/json/json.ts";
import { assert } from "./assert.ts";
import { type Got, got } from "./chat_call.ts";
import type { TestGateway } from "./gateway.ts";

/** An answer and its JSON; an empty object when it is none. */
export interface Reply extends Got {
  readonly json: JsonObject;
}

/** Sends requests for stateful objects to a gateway under test. */
export interface StateCalls {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** A text is sent as it is. */
  post(
    path: string,
    body?: JsonObject | string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Reply>;
  delete(path: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
}

/** Calls below `/v1`. */
export function stateCalls(app: TestGateway["app"]): StateCalls {
  async function send(path: string, init: RequestInit): Promise<Reply> {
    const answer = await got(await app(new Request(`http://localhost/v1${path}`, init)));
    const json = parseJson(answer.text);
    return { ...answer, json: isObject(json) ? json : {} };
  }

  return {
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, body = "", headers = {}) =>
      send(path, {
        method: "POST",
        headers,
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    delete: (path, headers = {}) => send(path, { method: "DELETE", headers }),
  };
}

/** Status, code and param of an error, as they are checked together. */
export function refusalOf({ status, error }: Got): readonly unknown[] {
  return [status, error.code, error.param];
}

/** The text that must be there. */
export function textAt(value: JsonObject, key: string): string {
  const text = value[key];
  assert(typeof text === "string", `${key} is no text in ${JSON.stringify(value)}`);
  return text;
}

/** The objects of a list that must be there. */
export function objectsAt(value: JsonObject, key: string): readonly JsonObject[] {
  const list: JsonValue | undefined = value[key];
  assert(Array.isArray(list), `${key} is no list in ${JSON.stringify(value)}`);
  return list.filter(isObject);
}
