import type { JsonObject } from "../../src/core/json/json.ts";
import type { GatewayStore } from "../../src/store/gateway_store.ts";
import { answers, COMPLETION } from "./chat_call.ts";
import { configOf } from "../config/parse.ts";
import { type TestGateway, testGateway } from "./gateway.ts";
import { type Fetch, type ScriptedWorld, scriptedWorld } from "./world.ts";

/** Member `usage` of each completion: 14 tokens, which cost 24 USD per million calls. */
export const USAGE: JsonObject = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };

/** A gateway whose clients have limits, in a scripted world. */
export interface LimitedGateway extends TestGateway {
  readonly world: ScriptedWorld & {
    /** Sets the wall clock, in Unix milliseconds; it continues from there. */
    setWall(ms: number): void;
  };
  /** Serves another configuration from now on. */
  reload(security: string, more?: string): void;
}

/** Differences from a gateway in memory whose provider always completes. */
export interface LimitedOptions {
  readonly fetch?: Fetch;
  /** Further sections of the file. */
  readonly more?: string;
  readonly providers?: string;
  readonly store?: GatewayStore;
  readonly world?: LimitedGateway["world"];
}

/**
 * A world whose wall clock a test can set. It begins on Tuesday, 14 November 2023, 22:13:20 UTC.
 */
export function clockWorld(fetch: Fetch): LimitedGateway["world"] {
  const world = scriptedWorld({ fetch });
  let shift = 0;
  return {
    ...world,
    wall: () => world.wall() + shift,
    setWall(ms) {
      shift = ms - world.wall();
    },
    get waiting() {
      return world.waiting;
    },
  };
}

/**
 * The keys of `security.api_key.keys` with the secret `key-of-NAME`, and further members of
 * `security`.
 */
export function keys(
  settings: Readonly<Record<string, JsonObject>>,
  more: JsonObject = {},
): string {
  const listed = Object.entries(settings)
    .map(([name, limits]) => ({ name, value: `key-of-${name}`, ...limits }));
  return `security: ${JSON.stringify({ enabled: true, api_key: { keys: listed }, ...more })}\n`;
}

const PROVIDERS = `
providers:
  up: {type: compat, base_url: "http://up", api_key: sk-upstream-secret}
routing:
  routes:
    - name: main
      targets: [{provider: up}]
retry: {enabled: false}
pricing: {"up/m": {input: 2, output: 1}}
`;

/** A gateway with these client keys. */
export function limitedGateway(security: string, options: LimitedOptions = {}): LimitedGateway {
  const { fetch = () => answers(200, { ...COMPLETION, usage: USAGE }), more = "" } = options;
  const { providers = PROVIDERS } = options;
  const world = options.world ?? clockWorld(fetch);
  const gateway = testGateway(security + more + providers, world, {
    ...options.store !== undefined && { store: options.store },
  });
  return {
    ...gateway,
    world,
    reload(next, others = more) {
      gateway.gateway.reload(configOf(next + others + providers));
    },
  };
}
