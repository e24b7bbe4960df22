import type { JsonObject } from "../core/json/json.ts";
import type { Entry } from "../formats/edit.ts";
import type { Provider } from "./wire.ts";

/**
 * Returns the provider's sampling defaults for the fields that the request does not set. Null
 * counts as not set.
 */
export function samplingDefaults(
  body: JsonObject,
  { settings: { temperature, top_p } }: Pick<Provider, "settings">,
): readonly Entry[] {
  const defaults: Entry[] = [];
  if ((body.temperature ?? null) === null && temperature !== undefined) {
    defaults.push(["temperature", String(temperature)]);
  }
  if ((body.top_p ?? null) === null && top_p !== undefined) {
    defaults.push(["top_p", String(top_p)]);
  }
  return defaults;
}
