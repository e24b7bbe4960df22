import type { JsonObject } from "../../../src/core/json/json.ts";
import type { BoundType } from "../../../src/store/object_store.ts";
import { MESSAGES } from "../../support/chat_call.ts";
import { responseOf } from "../../support/native_gateway.ts";

/** The types of objects that have owners and paths of their kind alone. */
export type NativeType = Exclude<BoundType, "relayed_object">;

/** How one type of object is created, used and called when it is refused. */
export interface Kind {
  readonly path: string;
  readonly create: JsonObject;
  readonly resource: (id: string) => JsonObject;
  readonly deleted: string;
  readonly param: string;
  readonly unknown: string;
}

/** The types of objects that have owners. */
export const KINDS: Readonly<Record<NativeType, Kind>> = {
  response: {
    path: "/responses",
    create: { model: "m", input: "x" },
    resource: responseOf,
    deleted: "response",
    param: "response_id",
    unknown: "response_not_found",
  },
  chat_completion: {
    path: "/chat/completions",
    create: { model: "m", ...MESSAGES, store: true },
    resource: (id) => ({
      id,
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "x" }, finish_reason: "stop" }],
    }),
    deleted: "chat.completion.deleted",
    param: "completion_id",
    unknown: "completion_not_found",
  },
  conversation: {
    path: "/conversations",
    create: {},
    resource: (id) => ({ id, object: "conversation" }),
    deleted: "conversation.deleted",
    param: "conversation_id",
    unknown: "conversation_not_found",
  },
};

/** The type that a path below the upstream's base is about, and the id in it. */
export function kindOf(path: string): readonly [NativeType, string] {
  const type = path.startsWith("/responses")
    ? "response"
    : path.startsWith("/conversations")
    ? "conversation"
    : "chat_completion";
  return [type, path.slice(KINDS[type].path.length + 1)];
}
