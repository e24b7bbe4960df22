import type { JsonObject } from "../../core/json/json.ts";
import type { Entry } from "../../formats/edit.ts";
import type { Provider } from "../wire.ts";

/** The provider's sampling defaults that a request leaves open; a null asks for nothing, like an absent field. */
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
