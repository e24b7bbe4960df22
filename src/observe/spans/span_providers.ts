import type { Config } from "../../config/schema.ts";
import { providerName } from "./provider_names.ts";
import type { SpanProvider } from "./span_attributes.ts";

/**
 * Returns a function from the ID of a provider to its facts for spans; null if the current
 * configuration does not have it. The facts of a configuration are made once.
 */
export function newSpanProviders(config: () => Config): (id: string) => SpanProvider | null {
  let made = new Map<string, SpanProvider>();
  let madeFor: Config | null = null;
  return (id) => {
    const current = config();
    if (current !== madeFor) {
      madeFor = current;
      made = new Map(factsOf(current));
    }
    return made.get(id) ?? null;
  };
}

function* factsOf({ providers, telemetry }: Config): Iterable<[string, SpanProvider]> {
  for (const [id, { type, base_url }] of Object.entries(providers)) {
    const { hostname, port, protocol } = new URL(base_url);
    yield [id, {
      name: providerName({ id, type, baseUrl: base_url }, telemetry.provider_names),
      // An address without the brackets that it has in a URL.
      host: hostname.replace(/^\[|\]$/g, ""),
      port: port === "" ? protocol === "http:" ? 80 : 443 : Number(port),
    }];
  }
}
