import { list } from "../answers/json_at.ts";
import { checkAnswer, demand, receive, type Received, type SoakClient, textIn } from "../client.ts";
import { KEYS, MAX_ENTRIES_COUNT, TYPES } from "../config.ts";
import { readStateGauges } from "../metrics.ts";
import type { Outage } from "../store.ts";
import { API_PATHS, question, TEXT_APIS, textRequest } from "./inference.ts";
import { remove, sameJson } from "./stored.ts";
import type { Use } from "./use.ts";

const RESPONSES = API_PATHS.responses;

/**
 * Responses that are refused, or wait to be stored, after which every worker has noticed the
 * outage.
 */
const MIN_NOTICED_COUNT = 6;

/**
 * Responses that may be stored before that: a full disk has room in its write-ahead log and in the
 * free pages of its file. A full store keeps the youngest responses of each client key, as many for
 * each: here the one from before the outage and these, so that none makes room for another.
 */
const MAX_CREATED_COUNT = MAX_ENTRIES_COUNT / KEYS.length - 1;

/** Length of the text of a response, so that a full disk is noticed after few of them. */
const LONG_CHARS = 200_000;

/** Time within which the gateway has its store again, and has stored what has waited. */
const RETURN_TIMEOUT_MS = 60_000;
const LOOK_INTERVAL_MS = 200;

/**
 * Returns the use of a gateway whose store becomes unavailable and comes back. No other use may run
 * meanwhile. What needs the store is refused or delivered whole, the rest is served, and what was
 * delivered is stored afterwards.
 */
export function outageUse(outage: Outage): Use {
  return {
    name: `the store is unavailable: ${outage.name}`,
    async run(client) {
      const { response: kept } = await created(client, question(client));
      demand(kept !== null, "a response was refused before the outage");
      await outage.begin();
      const delivered: Received[] = [];
      try {
        let noticed = 0;
        for (let at = 0; noticed < MIN_NOTICED_COUNT && at < MAX_CREATED_COUNT; at++) {
          const input = `${client.mark} `.padEnd(LONG_CHARS, "long ");
          const { response, isStored } = await created(client, input);
          if (response !== null) delivered.push(response);
          if (!isStored) noticed++;
        }
        demand(noticed > 0, `${delivered.length} responses are stored without a store`);
        await useWithoutState(client);
        const read = await client.send("GET", `${RESPONSES}/${textIn(kept, "id")}`);
        await read.text();
        demand([200, 503].includes(read.status), `a stored response has status ${read.status}`);
      } finally {
        await outage.end();
      }
      await returned(client);
      for (const response of outage.forgets ? delivered : [kept, ...delivered]) {
        const id = textIn(response, "id");
        const { json } = await client.ok("GET", `${RESPONSES}/${id}`);
        sameJson(json.output, response.json.output, "the stored response");
        await remove(client, RESPONSES, { id });
      }
    },
  };
}

interface Created {
  /** Null if it is refused because of the store. */
  readonly response: Received | null;
  readonly isStored: boolean;
}

async function created(client: SoakClient, input: string): Promise<Created> {
  const body = { model: "compat/sim-echo", input };
  const response = await client.send("POST", RESPONSES, body);
  const retryAfter = response.headers.get("retry-after");
  const state = response.headers.get("x-gateway-state");
  const received = await receive(response);
  if (received.status === 503) {
    demand(received.text.includes('"state_unavailable"'), `another refusal: ${received.text}`);
    demand(retryAfter === "1", `the refusal has Retry-After ${retryAfter}`);
    return { response: null, isStored: false };
  }
  demand(received.status === 200, `status ${received.status}: ${received.text.slice(0, 300)}`);
  checkAnswer(client, "responses", received);
  return { response: received, isStored: state === null };
}

/** Requests that need no state are served. */
async function useWithoutState(client: SoakClient): Promise<void> {
  for (const api of TEXT_APIS) {
    for (const type of TYPES) {
      const isStream = client.turn % 2 === 0;
      const body = {
        ...textRequest(api, `${type}/sim-transcript`, question(client), isStream),
        ...api === "responses" ? { store: false } : {},
      };
      checkAnswer(client, api, await client.ok("POST", API_PATHS[api], body));
    }
  }
  const models = await client.ok("GET", "/v1/models");
  demand(list(models.json.data).length > 0, "there are no models");
  await client.ok("GET", "/ready");
}

async function returned({ url }: SoakClient): Promise<void> {
  const end = performance.now() + RETURN_TIMEOUT_MS;
  for (;;) {
    const { isUp, pending } = await readStateGauges(url);
    if (isUp && pending === 0) return;
    demand(performance.now() < end, `the store is up: ${isUp}; ${pending} writes wait`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
  }
}
