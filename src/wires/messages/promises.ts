import { formatPromises, permitsCalls } from "../verified/format_promises.ts";
import type { ResponsePromise } from "../verified/response_promise.ts";
import { splitStops } from "../verified/stop_promises.ts";
import { isAnyObject } from "./closed_schema.ts";
import { isStopSequence, type SectionInput } from "./controls.ts";

/** Returns the fields of an encodable prompt that the Messages API does not enforce. */
export function promisesOf(input: SectionInput): readonly ResponsePromise[] {
  const { prompt, schemas, target: { provider: { settings } } } = input;
  if (!settings.verify) return [];
  const stops = splitStops(prompt.stop, { isSent: isStopSequence, verify: true });
  return [
    ...stops.ok ? stops.value.promises : [],
    ...anyObjectPromises(input),
    ...formatPromises(prompt, settings, schemas, false),
  ];
}

/**
 * Returns the promise of a schema that only asks for an object, which the API would permit no
 * property.
 */
function anyObjectPromises({ prompt }: SectionInput): readonly ResponsePromise[] {
  const { format } = prompt;
  if (format?.kind !== "json_schema" || !isAnyObject(format.schema.value)) return [];
  const { path } = format.schema.at;
  return [{ kind: "json_object", path, permitsCalls: permitsCalls(prompt) }];
}
