import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { configOf } from "../config/parse.ts";
import { samplesNamed } from "../observe/exposition.ts";
import { answers, type ChatOptions, chatRequest, COMPLETION, type Got, got } from "./chat_call.ts";
import { assertEquals } from "./assert.ts";
import { type TestGateway, testGateway } from "./gateway.ts";
import { streamOf } from "./pieces.ts";
import { type StateCalls, stateCalls } from "./state_call.ts";
import { type ScriptedWorld, scriptedWorld } from "./world.ts";

/** A request of the gateway to an upstream. */
export interface KeyedRequest {
  /** The key that it was sent with. */
  readonly key: string;
  readonly method: string;
  /** Host and path. */
  readonly url: string;
  readonly body: JsonObject;
  readonly at: number;
  /** The whole request; its body may be read once. */
  readonly raw: Request;
}

/** The response to a request, by the key that it was sent with. */
export type Answer = (request: KeyedRequest) => Promise<Response>;

/** A gateway whose upstreams answer by key. */
export interface PoolGateway extends TestGateway, StateCalls {
  readonly world: ScriptedWorld;
  readonly requests: readonly KeyedRequest[];
  /** The keys of all requests so far, in order. */
  keys(): readonly string[];
  /** Answers requests with a key in this way from now on; a completion without one. */
  answer(key: string, answer: Answer | null): void;
  /** Sends a chat call and reads its response. */
  ask(options?: ChatOptions): Promise<Got>;
  /** Keys of the requests of one chat call. */
  keysOf(options?: ChatOptions): Promise<readonly string[]>;
  /** Number of resting keys of each provider with a pool, by provider. */
  resting(): Promise<Readonly<Record<string, number>>>;
  serve(config: string): void;
  /** Fields of the warnings about refused keys. */
  warnings(): readonly JsonObject[];
}

/** A response that refuses a key. */
export function refusal(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const message = status === 401 ? "Incorrect API key provided." : `refused ${status}`;
  const error = { message, type: "t", param: null, code: "c" };
  return () => answers(status, { error }, headers);
}

/** A configuration with one provider `up` with these keys and settings, and one route. */
export function poolConfig(
  keys: string,
  { settings = "", fallback = "", more = "retry: {enabled: false}", target = "" } = {},
): string {
  return `
providers:
  up: {type: compat, base_url: "http://up/v1", api_keys: [${keys}]${settings && `, ${settings}`}}
  spare: {type: compat, base_url: "http://spare/v1", api_key: spare-key}
routing:
  routes:
    - name: main
      targets: [{provider: up${target && `, ${target}`}}]
      fallback: [${fallback}]
${more}
`;
}

/** Keys `sk-a` and `sk-b` of equal weight. */
export const TWO_KEYS = "{name: a, value: sk-a}, {name: b, value: sk-b}";

/** Answers as the simulator, which has the objects of each key apart. */
export function simulator(): Answer {
  const simulate = newSimulator(scriptedWorld());
  return async ({ raw }) => {
    const response = await simulate(raw);
    const bytes = await response.bytes();
    // A status that has no body must not be given one.
    return new Response(bytes.length === 0 ? null : streamOf([bytes]), response);
  };
}

/** A gateway with this configuration; `other` answers requests with a key without an answer. */
export function poolGateway(
  config: string,
  other: Answer = () => answers(200, COMPLETION),
): PoolGateway {
  const requests: KeyedRequest[] = [];
  const given = new Map<string, Answer>();
  const world = scriptedWorld({
    async fetch(url, init) {
      const headers = new Headers(init.headers);
      const { host, pathname, search } = new URL(url);
      const text = await new Response(init.body ?? null).text();
      const body = parseJson(text);
      const method = init.method ?? "GET";
      const request = {
        key: headers.get("x-api-key") ??
          (headers.get("authorization") ?? "").replace("Bearer ", ""),
        method,
        url: host + pathname + search,
        body: isObject(body) ? body : {},
        at: world.now(),
        raw: new Request(url, { method, headers, body: method === "GET" ? null : text }),
      };
      requests.push(request);
      return await (given.get(request.key) ?? other)(request);
    },
  });
  const gateway = testGateway(config, world);

  async function ask(options: ChatOptions = {}): Promise<Got> {
    return await got(await gateway.app(chatRequest(options)));
  }

  return {
    ...gateway,
    ...stateCalls(gateway.app),
    world,
    requests,
    keys: () => requests.map(({ key }) => key),
    answer(key, answer) {
      if (answer === null) given.delete(key);
      else given.set(key, answer);
    },
    ask,
    async keysOf(options) {
      const before = requests.length;
      await ask(options);
      return requests.slice(before).map(({ key }) => key);
    },
    async resting() {
      const name = "gateway_provider_keys_resting";
      const samples = samplesNamed(await gateway.gateway.metrics.scrape(), name);
      return Object.fromEntries(
        Object.entries(samples).map(([labels, keys]) => [/"(.*)"/.exec(labels)?.[1] ?? "", keys]),
      );
    },
    serve: (text) => void gateway.gateway.reload(configOf(text)),
    warnings: () =>
      gateway.log.flatMap((line) => {
        const fields = parseJson(line);
        return isObject(fields) && fields.level === "warn" && fields.key !== undefined
          ? [fields]
          : [];
      }),
  };
}

/** Lets keys of the provider `up` rest, as after a refusal with 429, for these seconds. */
export async function restKeys(
  { gateway, resting }: PoolGateway,
  seconds: Readonly<Record<string, number>>,
): Promise<void> {
  for (const { name, digest } of gateway.generation.providers.get("up")?.accounts ?? []) {
    const restS = seconds[name];
    if (restS === undefined) continue;
    const key = { provider: "up", name, account: digest };
    const refused = { kind: "throttled", status: 429, code: null } as const;
    gateway.state.keyRests.begin(key, refused, { restMs: restS * 1_000, retryAfterMs: null });
  }
  assertEquals(await resting(), { up: Object.keys(seconds).length });
}
