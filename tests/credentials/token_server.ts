import { newRealWorld } from "../../src/cli/real_world.ts";
import type { CredentialConfig } from "../../src/config/schema.ts";
import { Cancellation } from "../../src/core/cancellation.ts";
import { newSource } from "../../src/credentials/new_source.ts";
import type { Fetched } from "../../src/credentials/source.ts";
import { configOf } from "../config/parse.ts";
import { startUpstream, type UpstreamScript } from "../support/upstream.ts";
import { scriptedWorld } from "../support/world.ts";

/** A request to a server of credentials. */
export interface Asked {
  readonly method: string;
  /** The address before it was led to the server of the test. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly form: Readonly<Record<string, string>>;
}

/** Returns the settings of a credential as the configuration has them. */
export function credentialOf(written: string): CredentialConfig {
  const config = configOf(`
providers: {p: {type: compat, base_url: "https://p/v1", credential: {${written}}}}
routing: {routes: [{name: r, targets: [{provider: p}]}]}`);
  const credential = config.providers.p?.api_keys[0]?.credential;
  if (credential === undefined) throw new Error("the provider has no credential");
  return credential;
}

/**
 * Fetches a credential from a server on a socket, to which all addresses lead, with a clock that
 * the test advances with `advanceMs`.
 */
export async function fetchFrom(
  script: UpstreamScript,
  settings: CredentialConfig,
  { variables = {}, advanceMs = 0 }: {
    readonly variables?: Readonly<Record<string, string>>;
    readonly advanceMs?: number;
  } = {},
): Promise<
  { readonly fetched: Fetched; readonly asked: readonly Asked[]; readonly wallMs: number }
> {
  await using server = startUpstream(script);
  const real = newRealWorld();
  const clock = scriptedWorld();
  const asked: Asked[] = [];
  const sent = Promise.withResolvers<void>();
  const world = {
    ...clock,
    wall: clock.wall,
    send(url: string, request: Parameters<typeof real.send>[1]) {
      const { origin } = new URL(url);
      const body = typeof request.body === "string" ? request.body : "";
      asked.push({
        method: request.method,
        url,
        headers: { ...request.headers },
        form: Object.fromEntries(new URLSearchParams(body)),
      });
      sent.resolve();
      return real.send(url.replace(origin, server.url), request);
    },
  };
  try {
    const source = newSource(settings, { world, variable: (name) => variables[name] });
    const fetching = source.fetch(new Cancellation());
    if (advanceMs > 0) {
      await sent.promise;
      await server.next();
      await clock.advance(advanceMs);
    }
    return { fetched: await fetching, asked, wallMs: clock.wall() };
  } finally {
    real.close();
  }
}
