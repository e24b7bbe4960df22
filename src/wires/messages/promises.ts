import { mayCall, promisesOfFormat } from "../verified/format_promises.ts";
import type { ResponsePromise } from "../verified/response_promise.ts";
import { splitStops } from "../verified/stop_promises.ts";
import { isAnyObject } from "./closed_schema.ts";
import { isStopSequence, type SectionInput } from "./controls.ts";

/** Returns the fields of an encodable prompt that the Messages API does not enforce. */
export function promisesOf(input: SectionInput): readonly ResponsePromise[] {
  const { prompt, target: { provider: { settings: { verify } } } } = input;
  if (!verify) return [];
  const stops = splitStops(prompt.stop, { isSent: isStopSequence, verify });
  return [
    ...stops.ok ? stops.value.promises : [],
    ...anyObjectPromises(input),
    ...promisesOfFormat(prompt, input, false),
  ];
}

/** Returns the promise of a schema that only asks for an object, which the API would permit no property. */
function anyObjectPromises({ prompt }: SectionInput): readonly ResponsePromise[] {
  const { format } = prompt;
  if (format?.kind !== "json_schema" || !isAnyObject(format.schema.value)) return [];
  const { path } = format.schema.at;
  return [{ kind: "json_object", path, permitsCalls: mayCall(prompt) }];
}
