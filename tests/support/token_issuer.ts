import { parseKeySet } from "../../src/access/tokens/key_set.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import { assert } from "./assert.ts";
import { type LimitedGateway, limitedGateway, type LimitedOptions } from "./limited_gateway.ts";
import { ISSUER, KEYS_URL, type SigningKey } from "./signing_key.ts";

export * from "./signing_key.ts";

/** Settings of one issuer, which differ from those of `corp`. */
export type IssuerSettings = Readonly<Record<string, JsonObject[string]>>;

/** A `security` section with the issuer `corp` and the client key `key-of-nightly`. */
export function tokenSecurity(issuer: IssuerSettings = {}, more: JsonObject = {}): string {
  const corp = {
    name: "corp",
    issuer: ISSUER,
    jwks_url: KEYS_URL,
    audience: ["switchyard"],
    algorithms: ["ES256"],
    rules: [
      { claim: "groups", values: ["ai-admins"], template: "admin" },
      { claim: "groups", values: ["ai-*"], template: "developer" },
    ],
    ...issuer,
  };
  return `security: ${
    JSON.stringify({
      enabled: true,
      provider: "jwt",
      api_key: { keys: [{ name: "nightly", value: "key-of-nightly" }] },
      jwt: { issuers: [corp] },
      templates: [{ name: "admin" }, { name: "developer" }],
      ...more,
    })
  }\n`;
}

/** A gateway that accepts tokens, in a scripted world. */
export interface TokenGateway extends LimitedGateway {
  /** Replaces the keys of the issuer `corp`; null for a refresh that fails. */
  refreshed(keys: readonly SigningKey[] | null, url?: string): Promise<void>;
  /** Sends a request with this value, and returns its response. */
  call(token: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Status and code of the response to a request with this value. */
  verdict(token: string): Promise<readonly [status: number, code: unknown]>;
}

/** A gateway with these keys of the issuer `corp`. */
export async function tokenGateway(
  security: string,
  keys: readonly SigningKey[],
  options: LimitedOptions = {},
): Promise<TokenGateway> {
  const gateway = limitedGateway(security, options);
  const made: TokenGateway = {
    ...gateway,
    refreshed: (next, url) => refreshKeys(gateway.gateway, next, url),
    call: (token, headers = {}) =>
      gateway.app(
        new Request("http://localhost/v1/chat/completions", {
          method: "POST",
          headers: { host: "localhost", authorization: `Bearer ${token}`, ...headers },
          body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] }),
        }),
      ),
    async verdict(token) {
      const response = await made.call(token);
      const body = await response.json();
      return [response.status, response.status === 200 ? null : body.error.code];
    },
  };
  await made.refreshed(keys);
  return made;
}

/** Replaces the keys of an issuer of a gateway; null for a refresh that fails. */
export async function refreshKeys(
  { generation: { tokens }, world }: Pick<Gateway, "generation" | "world">,
  keys: readonly SigningKey[] | null,
  url = KEYS_URL,
): Promise<void> {
  assert(tokens !== null);
  const set = { keys: keys?.map(({ publicJwk }) => publicJwk) };
  const parsed = keys === null ? null : await parseKeySet(JSON.stringify(set));
  if (parsed?.ok === false) throw new Error(parsed.problem);
  tokens.keySets.end(`url ${url}`, parsed?.keys ?? null, world.now());
}
