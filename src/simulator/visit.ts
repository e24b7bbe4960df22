import { isObject, type JsonObject, parseJson } from "../core/json.ts";
import type { Account } from "./account.ts";
import { refusal, type Scene } from "./chat.ts";
import { complain } from "./voice.ts";

/** A call that has found its way: what stood in its path, and who makes it. */
export interface Visit extends Scene {
  readonly query: URLSearchParams;
  /** The parts of the path that the route leaves open, decoded. */
  readonly ids: readonly string[];
  readonly account: Account;
}

/** Does what one method of one path is for. */
export type Route = (visit: Visit) => Promise<Response> | Response;

/** The refusal of something that this account does not have. */
export function notFound(what: string, id: string, scene: Scene): Response {
  return refusal(complain(`${what} with id '${id}' not found.`, { status: 404 }), scene);
}

/** The body of a request as a JSON object; null when it is something else, {} when there is none. */
export async function optionalBody({ request }: Scene): Promise<JsonObject | null> {
  const text = await request.text();
  const body = text === "" ? {} : parseJson(text);
  return isObject(body) ? body : null;
}
