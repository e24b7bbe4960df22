import { isObject } from "../../../src/core/json/json.ts";
import { readAnswer } from "../answers.ts";
import { demand, receive, type SoakClient, upstreamFormat } from "../client.ts";
import { breakingProvider, type ProviderType, TYPES } from "../config.ts";
import { API_PATHS, question, TEXT_APIS, type TextApi, textRequest } from "./inference.ts";
import type { Use } from "./use.ts";

/** Models of the simulator that break; each one in turn. */
const BREAKS: readonly string[] = [
  "sim-broken-stream",
  "sim-broken-reset",
  "sim-broken-half",
  "sim-broken-error",
  "sim-broken-json",
  "sim-broken-first",
  "sim-broken-empty",
  "sim-broken-redirect",
  "sim-broken-204",
  "sim-broken-silent",
  "sim-error-400",
  "sim-error-401",
  "sim-error-429",
  "sim-error-500",
  "sim-error-503",
  "sim-hang",
];

/** The breaks of an upstream that a client API has to notice. */
function breaksOf(api: TextApi, type: ProviderType): readonly string[] {
  // The broken record is an unknown event there, which is relayed (Messages API, streaming).
  const isUnknownEvent = api === "messages" && type === "messages";
  return isUnknownEvent ? BREAKS.filter((model) => model !== "sim-broken-json") : BREAKS;
}

/** A huge record costs the simulator much, so it comes more rarely, and a whole body may be as long. */
const HUGE = "sim-broken-huge";
const USES_BETWEEN_HUGE_COUNT = 40;

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
        const said = client.said();
        const answer = readAnswer(api, received.type, received.text);
        const what = `${model}: status ${received.status}: ${received.text.slice(-400)}`;
        demand(answer.error !== null, `no error in the answer of ${what}`);
        demand(!answer.isComplete || received.status !== 200, `a complete answer of ${what}`);
        if (received.status !== 200) {
          demand(isObject(received.json.error), `no error object in ${what}`);
          return;
        }
        // What came before the break is the simulator's, and of one attempt only.
        const last = said.at(-1);
        demand(last !== undefined, `the simulator was not called for ${what}`);
        const expected = readAnswer(upstreamFormat(last.path), last.type, last.text());
        const isBeginning = expected.text.startsWith(answer.text);
        demand(isBeginning, `received ${answer.text}, the simulator said ${expected.text}`);
      },
    }))
  )
);
