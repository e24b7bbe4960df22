import { type Credentials, newCredentials } from "../../src/credentials/credentials.ts";
import { newLog, textOf } from "../../src/observe/log.ts";
import { configOf } from "../config/parse.ts";
import {
  answers,
  type ChatOptions,
  chatRequest,
  COMPLETION,
  type Got,
  got,
} from "../support/chat_call.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { type Fetch, type ScriptedWorld, scriptedWorld } from "../support/world.ts";

/** A provider `up` with this credential, and a provider `spare` with a key. */
export function credentialConfig(
  credential: string,
  { fallback = "", settings = "", more = "retry: {enabled: false}" } = {},
): string {
  return `
providers:
  up: {type: compat, base_url: "https://up/v1", credential: {${credential}}${settings}}
  spare: {type: compat, base_url: "https://spare/v1", api_key: spare-key}
routing: {routes: [{name: main, targets: [{provider: up}], fallback: [${fallback}]}]}
${more}
`;
}

/** A credential whose tokens come from `https://login/`. */
export const ENTRA =
  'type: entra, tenant: t, client_id: c, client_secret: client-secret-1, authority: "https://login"';

/** A request to a provider. */
export interface Sent {
  readonly host: string;
  readonly headers: Headers;
  readonly body: string;
  readonly at: number;
}

/** A gateway with a provider that has a credential, and the endpoint that issues it. */
export interface CredentialGateway extends TestGateway {
  readonly world: ScriptedWorld;
  readonly credentials: Credentials;
  /** Requests to providers. */
  readonly sent: readonly Sent[];
  /** Number of requests to the token endpoint. */
  issued(): number;
  /** Log lines of the refreshes. */
  readonly lines: readonly string[];
  ask(options?: ChatOptions): Promise<Got>;
  reload(config: string): void;
}

/** Responses of the token endpoint and of providers; tokens of an hour and status 200 if absent. */
export interface CredentialScript {
  readonly token?: (count: number, ...request: Parameters<Fetch>) => Promise<Response>;
  readonly provider?: (sent: Sent) => Promise<Response>;
}

/** Returns a token endpoint's response with this token. */
export function issue(token: string, expiresIn = 3_600): Promise<Response> {
  return answers(200, { access_token: token, expires_in: expiresIn });
}

/** Returns a gateway whose credentials are refreshed, with the first one issued. */
export async function credentialGateway(
  config: string,
  {
    token = (count) => issue(`token-${count}`),
    provider = () => answers(200, COMPLETION),
  }: CredentialScript = {},
): Promise<CredentialGateway> {
  const sent: Sent[] = [];
  let issued = 0;
  const world = scriptedWorld({
    async fetch(url, init) {
      const { host } = new URL(url);
      if (host === "login") return await token(++issued, url, init);
      const body = await new Response(init.body ?? null).text();
      const one = { host, headers: new Headers(init.headers), body, at: world.now() };
      sent.push(one);
      return await provider(one);
    },
  });
  const gateway = testGateway(config, world);
  const lines: string[] = [];
  const credentials = newCredentials({
    world,
    log: newLog({ level: "debug", format: "json" }, (line) => void lines.push(textOf(line))),
    variable: () => undefined,
    counted: (provider, result) => gateway.gateway.metrics.credentialRefreshed(provider, result),
  });
  credentials.configure(gateway.gateway.generation.credentials);
  await world.advance(0);
  return {
    ...gateway,
    world,
    credentials,
    sent,
    issued: () => issued,
    lines,
    ask: async (options = {}) => await got(await gateway.app(chatRequest(options))),
    reload(text) {
      gateway.gateway.reload(configOf(text));
      credentials.configure(gateway.gateway.generation.credentials);
    },
  };
}
