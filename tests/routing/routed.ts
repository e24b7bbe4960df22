import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { assert } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, type Got, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

/** Members of a call that decide its route. */
export interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

/** A gateway over providers that record their requests. */
export interface Routed {
  /** One call to its end. */
  ask(asked?: Asked): Promise<Got>;
  /** `provider/model` of every upstream call so far, in order. */
  readonly upstream: readonly string[];
}

/** How the world of the test behaves. */
export interface Way {
  /** Hosts of the providers that answer 400, 501 or whatever is given here. */
  readonly failing?: Readonly<Record<string, number>>;
  readonly random?: readonly number[];
  /** More lines of the configuration. */
  readonly settings?: string;
}

/** Providers `a`, `b`, `c` (compat) and `loc` (local), with the routes given as YAML. */
export function routed(routes: string, way: Way = {}): Routed {
  const upstream: string[] = [];
  const world = scriptedWorld({
    random: way.random ?? [],
    async fetch(url, init) {
      const { hostname } = new URL(url);
      const body = parseJson(await new Response(init.body).text());
      upstream.push(`${hostname}/${isObject(body) ? String(body.model) : ""}`);
      const status = way.failing?.[hostname];
      return status === undefined ? answers(200, COMPLETION) : answers(status, "");
    },
  });
  const gateway = testGateway(
    `
providers:
  a: {type: compat, base_url: "http://a"}
  b: {type: compat, base_url: "http://b", default_model: b-default}
  c: {type: compat, base_url: "http://c"}
  loc: {type: local, base_url: "http://loc"}
routing:
  routes: ${routes}
retry: {enabled: false}
${way.settings ?? ""}
`,
    world,
  );
  return {
    upstream,
    ask: async (asked = {}) => await got(await gateway.app(chatRequest(asked))),
  };
}

/** The provider, model and route that an answer names; fails unless it is a success. */
export function servedBy({ status, headers, text }: Got): string {
  assert(status === 200, `${status} ${text}`);
  const named = ["provider", "model", "route"].map((name) => headers.get(`x-gateway-${name}`));
  return named.join(" ");
}
