import { isObject } from "../../core/json/json.ts";
import type { ProviderConfig } from "../../config/schema.ts";
import type { ChatRequest } from "../chat_request/chat_request.ts";
import { permitsCalls, schemaPromises } from "../verified/format_promises.ts";
import type { ResponsePromise } from "../verified/response_promise.ts";
import { parseStops } from "../verified/stop_promises.ts";
import { isStopSequence } from "./controls.ts";

/** Returns the fields of an encodable request that the Messages API does not enforce. */
export function promisesOf(
  chat: ChatRequest,
  settings: ProviderConfig,
): readonly ResponsePromise[] {
  if (!settings.verify) return [];
  const { value } = chat.document;
  const stops = parseStops(value.stop, { isSent: isStopSequence, verify: true });
  const { response_format: format } = value;
  return [
    ...stops.ok ? stops.value.promises : [],
    ...isObject(format) && format.type === "json_object"
      ? [
        {
          kind: "json_object",
          path: "response_format",
          permitsCalls: permitsCalls(chat.document),
        } as const,
      ]
      : [],
    ...schemaPromises(chat, settings),
  ];
}
