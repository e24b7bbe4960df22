import type { ProviderConfig } from "../../config/schema.ts";
import { isObject } from "../../core/json/json.ts";
import type { ChatRequest } from "../chat_request/chat_request.ts";
import { formatPromises, permitsCalls } from "../verified/format_promises.ts";
import type { ResponsePromise } from "../verified/response_promise.ts";
import { parseStops } from "../verified/stop_promises.ts";
import { isAnyObject } from "./closed_schema.ts";
import { isStopSequence } from "./controls.ts";

/** Returns the fields of an encodable request that the Messages API does not enforce. */
export function promisesOf(
  chat: ChatRequest,
  settings: ProviderConfig,
): readonly ResponsePromise[] {
  if (!settings.verify) return [];
  const stops = parseStops(chat.document.value.stop, { isSent: isStopSequence, verify: true });
  return [
    ...stops.ok ? stops.value.promises : [],
    ...anyObjectPromises(chat),
    ...formatPromises(chat, settings, false),
  ];
}

/** Returns the promise of a schema that only asks for an object, which the API would permit no property. */
function anyObjectPromises({ document }: ChatRequest): readonly ResponsePromise[] {
  const { response_format: format } = document.value;
  const named = isObject(format) ? format.json_schema : null;
  if (!isObject(named) || !isObject(named.schema) || !isAnyObject(named.schema)) return [];
  const path = "response_format.json_schema.schema";
  return [{ kind: "json_object", path, permitsCalls: permitsCalls(document) }];
}
