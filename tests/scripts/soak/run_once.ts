import { listen } from "../../../src/cli/listen.ts";
import { compile } from "../../../src/gateway/compile.ts";
import { newGateway } from "../../../src/gateway/gateway.ts";
import { createApp } from "../../../src/server/app.ts";
import { newIdleLimits } from "../../../src/runtime/connections/idle_rules.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import { configText, plainSetting } from "../../../scripts/soak/config.ts";
import { type LoadResult, runLoad, USES } from "../../../scripts/soak/load.ts";
import { serveUpstream } from "../../../scripts/soak/upstream.ts";
import { configOf } from "../../config/parse.ts";
import { assertEquals } from "../../support/assert.ts";

/** Changes a response of the gateway, whose request had this path. */
type Alter = (response: Response, path: string) => Promise<Response> | Response;

/** The gateway of all tests that import this module, before its upstream. */
function startGateway() {
  const world = newRealWorld();
  const upstream = serveUpstream();
  const setting = configText(plainSetting(upstream.url), 0);
  const gateway = newGateway(compile(configOf(setting), 1), world, []);
  const app = createApp(gateway);
  const current = { alter: ((response) => response) as Alter, requests: [] as string[] };
  const server = listen(
    async (request, peer) => {
      const path = new URL(request.url).pathname;
      current.requests.push(`${request.method} ${path}`);
      return await current.alter(await app(request, peer), path);
    },
    "127.0.0.1",
    0,
    newIdleLimits({ idle_timeout: 120_000, write_timeout: 60_000 }),
  );
  if (!server.ok) throw new Error(server.trouble);
  Deno.test.afterAll(async () => {
    await server.close();
    world.close();
    await upstream[Symbol.asyncDispose]();
  });
  return { upstream, gateway, current, url: server.url };
}

const { upstream, gateway, current, url } = startGateway();

/** Number of the next use, which marks its requests. */
let from = 0;

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
  let begun = 0;
  current.alter = alter;
  current.requests = [];
  const mayBegin = () => begun++ < rounds * uses.length;
  const result = await runLoad({ url, upstream, uses, rate: 1000, from, mayBegin });
  from += rounds * uses.length;
  await gateway.state.inFlight.idle();
  assertEquals(
    [...result.counts.values()].reduce((sum, count) => sum + count, 0),
    rounds * uses.length,
  );
  const { requests } = current;
  return { ...result, seen: new Set(requests), requests: requests.length };
}
