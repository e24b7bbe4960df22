import { listen } from "../../../src/cli/listen.ts";
import { compile } from "../../../src/gateway/compile.ts";
import { newGateway } from "../../../src/gateway/gateway.ts";
import { createApp } from "../../../src/server/app.ts";
import { newIdleLimits } from "../../../src/runtime/connections/idle_rules.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import { configText, plainSetting } from "../../../scripts/soak/config.ts";
import { newSoakClient, receive, type Received } from "../../../scripts/soak/client.ts";
import { type LoadResult, problemOf, runLoad, USES } from "../../../scripts/soak/load.ts";
import {
  type RecordingUpstream,
  serveUpstream,
  type SimulatorResponse,
} from "../../../scripts/soak/upstream.ts";
import { configOf } from "../../config/parse.ts";
import { assertEquals } from "../../support/assert.ts";

/** Changes a response of the gateway, whose request had this path. */
type Alter = (response: Response, path: string) => Promise<Response> | Response;

/** Address and upstream of the gateway of a soak. */
interface SoakPlace {
  readonly url: string;
  readonly upstream: RecordingUpstream;
}

/**
 * Runs these uses in turn, `rounds` times each, over a gateway whose responses pass through
 * `alter`.
 */
export async function runOnce(
  names: RegExp,
  alter: Alter = (response) => response,
  rounds = 1,
): Promise<LoadResult & { readonly seen: ReadonlySet<string>; readonly requests: number }> {
  const uses = USES.filter(({ name }) => names.test(name));
  const count = rounds * uses.length;
  const requests: string[] = [];
  const result = await withSoakGateway(async (place) => {
    let begun = 0;
    const mayBegin = () => begun++ < count;
    return await runLoad({ ...place, uses, rate: 1000, from: 0, mayBegin });
  }, async (request, respond) => {
    const path = new URL(request.url).pathname;
    requests.push(`${request.method} ${path}`);
    return await alter(await respond(), path);
  });
  assertEquals([...result.counts.values()].reduce((sum, one) => sum + one, 0), count);
  return { ...result, seen: new Set(requests), requests: requests.length };
}

/** Returns the problems of uses if the text of each answer passes through a function. */
export type Replay = (alter: (text: string) => string) => Promise<readonly string[]>;

/**
 * Runs these uses, of one request each, in turn over a gateway, `rounds` times each. In a replay
 * the gateway and its upstream say again what they have said.
 */
export async function recordOnce(names: RegExp, rounds: number): Promise<Replay> {
  const uses = USES.filter(({ name }) => names.test(name));
  const recorded: ((alter: (text: string) => string) => Promise<string | null>)[] = [];
  await withSoakGateway(async ({ url, upstream }) => {
    using http = Deno.createHttpClient({});
    for (const [number, use] of Array.from({ length: rounds }, () => uses).flat().entries()) {
      const turn = Math.floor(number / uses.length) + number % uses.length;
      const client = newSoakClient({ number, turn }, url, http, upstream);
      const answers: Received[] = [];
      const simulated: SimulatorResponse[] = [];
      const problem = await problemOf(use, {
        ...client,
        async ok(...request) {
          const answer = await client.ok(...request);
          answers.push(answer);
          return answer;
        },
        simulated() {
          simulated.push(...client.simulated());
          return simulated;
        },
      });
      const [{ type = "", text = "" } = {}, ...others] = answers;
      assertEquals([problem, others, simulated.length], [null, [], 1]);
      const headers = { "content-type": type };
      recorded.push((alter) =>
        problemOf(use, {
          ...client,
          ok: () => receive(new Response(alter(text), { headers })),
          simulated: () => simulated,
        })
      );
    }
  });
  return async (alter) => {
    const problems = await Promise.all(recorded.map((replay) => replay(alter)));
    return problems.filter((problem) => problem !== null);
  };
}

/** Serves a gateway before its upstream while `use` runs; its calls pass through `pass`. */
export async function withSoakGateway<T>(
  use: (place: SoakPlace) => Promise<T>,
  pass = (_request: Request, respond: () => Promise<Response>) => respond(),
): Promise<T> {
  const world = newRealWorld();
  await using upstream = serveUpstream();
  const setting = configText(plainSetting(upstream.url), 0);
  const gateway = newGateway(compile(configOf(setting), 1), world, []);
  const app = createApp(gateway);
  const server = listen(
    (request, peer) => pass(request, async () => await app(request, peer)),
    "127.0.0.1",
    0,
    newIdleLimits({ idle_timeout: 120_000, write_timeout: 60_000 }),
  );
  if (!server.ok) throw new Error(server.trouble);
  const result = await use({ url: server.url, upstream });
  await gateway.state.inFlight.idle();
  await server.close();
  world.close();
  return result;
}
