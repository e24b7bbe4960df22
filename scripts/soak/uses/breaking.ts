import { isObject } from "../../../src/core/json/json.ts";
import { readAnswer } from "../answers/read.ts";
import { checkBeginning, demand, receive, type SoakClient } from "../client.ts";
import { breakingProvider, type ProviderType, TYPES } from "../config.ts";
import { API_PATHS, question, TEXT_APIS, type TextApi, textRequest } from "./inference.ts";
import type { Use } from "./use.ts";

/**
 * Status of an error: of a whole answer, and of a stream; 200 if content comes before the error.
 */
interface BreakStatuses {
  readonly whole: number;
  readonly stream: number;
}

/** A break within the content: what has been delivered has status 200. */
const WITHIN: BreakStatuses = { whole: 502, stream: 200 };
const BEFORE: BreakStatuses = { whole: 502, stream: 502 };

function status(code: number): BreakStatuses {
  return { whole: code, stream: code };
}

/** Models of the simulator that break, each one in turn, with what the client receives. */
const STATUSES: Readonly<Record<string, BreakStatuses>> = {
  "sim-broken-stream": WITHIN,
  "sim-broken-reset": WITHIN,
  "sim-broken-half": WITHIN,
  "sim-broken-error": WITHIN,
  "sim-broken-json": WITHIN,
  "sim-broken-first": BEFORE,
  "sim-broken-empty": BEFORE,
  "sim-broken-redirect": BEFORE,
  "sim-broken-204": BEFORE,
  "sim-broken-silent": { whole: 504, stream: 200 },
  "sim-error-400": status(400),
  "sim-error-401": status(401),
  "sim-error-429": status(429),
  "sim-error-500": status(500),
  "sim-error-503": status(503),
  "sim-hang": status(504),
};
const BREAKS = Object.keys(STATUSES);

/**
 * Errors of a provider in an answer of status 200 have the status that the provider gives to them.
 */
const REPORTED: readonly string[] = ["sim-broken-error", "sim-broken-first"];

/** Returns the status of the answer of a model that breaks. */
function expectedStatus(model: string, type: ProviderType, stream: boolean): number {
  const { whole, stream: streamed } = STATUSES[model] ?? WITHIN;
  const code = stream ? streamed : whole;
  return code === 502 && type !== "local" && REPORTED.includes(model) ? 500 : code;
}

/** The breaks of an upstream that a client API has to notice. */
function breaksOf(api: TextApi, type: ProviderType): readonly string[] {
  // The broken record is an unknown event there, which is relayed (Messages API, streaming).
  const isUnknownEvent = api === "messages" && type === "messages";
  return isUnknownEvent ? BREAKS.filter((model) => model !== "sim-broken-json") : BREAKS;
}

/**
 * A huge record costs the simulator much, so it comes more rarely, and a whole body may be as long.
 */
const HUGE = "sim-broken-huge";
const USES_BETWEEN_HUGE_COUNT = 40;

/** The message of a circuit breaker that is open. */
const CIRCUIT_OPEN = /failed too often/;

/** Upstreams that break: the client must receive one error, and behind it nothing. */
export const BREAKING_USES: readonly Use[] = TEXT_APIS.flatMap((api) =>
  TYPES.flatMap((type) =>
    [false, true].map((stream) => ({
      name: `${api} over ${type}, ${stream ? "stream" : "JSON"}, the upstream breaks`,
      async run(client: SoakClient) {
        const breaks = breaksOf(api, type);
        const broken = stream && client.turn % USES_BETWEEN_HUGE_COUNT === 0
          ? HUGE
          : breaks[client.turn % breaks.length] ?? HUGE;
        const model = `${breakingProvider(type)}/${broken}`;
        const body = textRequest(api, model, question(client), stream);
        const received = await receive(await client.send("POST", API_PATHS[api], body));
        const answer = readAnswer(api, received.type, received.text);
        const what = `${model}: status ${received.status}: ${received.text.slice(-400)}`;
        demand(answer.error !== null, `no error in the answer of ${what}`);
        demand(!answer.isComplete || received.status !== 200, `a complete answer of ${what}`);
        // The failures may open the circuit breaker; then no other attempt is made.
        const isOpen = received.status === 503 && CIRCUIT_OPEN.test(received.text);
        const expected = expectedStatus(broken, type, stream);
        demand(isOpen || received.status === expected, `not the status ${expected} of ${what}`);
        if (received.status !== 200) {
          demand(isObject(received.json.error), `no error object in ${what}`);
          return;
        }
        // What came before the break is the simulator's, and of one attempt only.
        demand(answer.text !== "", `no content before the break in ${what}`);
        checkBeginning(client, { ...answer, error: null });
      },
    }))
  )
);
