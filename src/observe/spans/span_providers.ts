import type { Config } from "../../config/schema.ts";
import type { CalledProvider } from "../../core/call_span.ts";
import { providerName } from "./provider_names.ts";
import type { SpanProvider } from "./span_attributes.ts";

/**
 * Returns the facts of a provider for spans: as an attempt has called it, whose configuration a
 * reload may have replaced, else as the current one has it; null if that does not have it.
 */
export type ProviderFacts = (id: string, called?: CalledProvider) => SpanProvider | null;

/** Returns a function to the facts of providers, which are made once. */
export function newSpanProviders(config: () => Config): ProviderFacts {
  const made = new WeakMap<CalledProvider, SpanProvider>();
  return (id, called) => {
    const { providers, telemetry } = config();
    const provider = called ?? (Object.hasOwn(providers, id) ? providers[id] : undefined);
    if (provider === undefined) return null;
    const facts = made.get(provider) ?? factsOf(id, provider, telemetry.provider_names);
    made.set(provider, facts);
    return facts;
  };
}

function factsOf(
  id: string,
  { type, base_url }: CalledProvider,
  names: Config["telemetry"]["provider_names"],
): SpanProvider {
  const { hostname, port, protocol } = new URL(base_url);
  return {
    name: providerName({ id, type, baseUrl: base_url }, names),
    // An address without the brackets that it has in a URL.
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? protocol === "http:" ? 80 : 443 : Number(port),
  };
}
