import { isObject } from "../../../src/core/json/json.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { compile } from "../../../src/gateway/compile.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import type { Provider } from "../../../src/wires/wire.ts";
import { assert } from "../../support/assert.ts";
import { parsedConfig } from "../../support/parsed_config.ts";
import { targetAt } from "../../support/translated.ts";

/** Providers by their settings: properties ask for the same ones hundreds of times. */
const providers = new Map<string, Provider>();

/** Returns a provider of type compat with ID `p`. Settings are YAML fields such as `top_p: 0.5`. */
export function provider(...settings: readonly string[]): Provider {
  const members = ["type: compat", 'base_url: "http://up/v1"', ...settings].join(", ");
  const known = providers.get(members) ?? compiled(members);
  providers.set(members, known);
  return known;
}

function compiled(members: string): Provider {
  const config = parsedConfig(
    `{providers: {p: {${members}}}, routing: {routes: [{name: r, targets: [{provider: p}]}]}}`,
  );
  const made = compile(config, 1).providers.get("p");
  assert(made !== undefined);
  return made;
}

/**
 * Returns the upstream request body for a client request text, for model `m` of a provider with
 * these settings.
 */
export function encoded(text: string, ...settings: readonly string[]): string {
  const document = parseDocument(text);
  assert(document.ok, text);
  const { value } = document.value;
  const request = compat.encode({
    document: document.value,
    stream: value.stream === true,
    includeUsage: isObject(value.stream_options) && value.stream_options.include_usage === true,
  }, targetAt(provider(...settings)));
  assert(request.ok && request.value.payload !== null);
  return request.value.payload.text();
}
