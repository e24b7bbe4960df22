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

/** Runs uses over one gateway, as {@link runOnce} does over a new one. */
export type RunOnce = typeof runOnce;

/**
 * Runs these uses in turn, `rounds` times each, over a gateway whose responses pass through
 * `alter`.
 */
export async function runOnce(
  names: RegExp,
  alter: Alter = (response) => response,
  rounds = 1,
): Promise<LoadResult & { readonly seen: ReadonlySet<string>; readonly requests: number }> {
  let result = null;
  await withSoakGateway(async (run) => result = await run(names, alter, rounds));
  if (result === null) throw new Error("the uses were not run");
  return result;
}

/** Serves a gateway before its upstream while `use` runs uses over it. */
export async function withSoakGateway(use: (run: RunOnce) => Promise<unknown>): Promise<void> {
  const world = newRealWorld();
  await using upstream = serveUpstream();
  const setting = configText(plainSetting(upstream.url), 0);
  const gateway = newGateway(compile(configOf(setting), 1), world, []);
  const app = createApp(gateway);
  let alterNow: Alter = (response) => response;
  let requests: string[] = [];
  const server = listen(
    async (request, peer) => {
      const path = new URL(request.url).pathname;
      requests.push(`${request.method} ${path}`);
      return await alterNow(await app(request, peer), path);
    },
    "127.0.0.1",
    0,
    newIdleLimits({ idle_timeout: 120_000, write_timeout: 60_000 }),
  );
  if (!server.ok) throw new Error(server.trouble);
  const { url } = server;
  let from = 0;
  await use(async (names, alter = (response) => response, rounds = 1) => {
    const uses = USES.filter(({ name }) => names.test(name));
    const count = rounds * uses.length;
    let begun = 0;
    alterNow = alter;
    requests = [];
    const mayBegin = () => begun++ < count;
    const result = await runLoad({ url, upstream, uses, rate: 1000, from, mayBegin });
    from += count;
    await gateway.state.inFlight.idle();
    assertEquals([...result.counts.values()].reduce((sum, one) => sum + one, 0), count);
    return { ...result, seen: new Set(requests), requests: requests.length };
  });
  await server.close();
  world.close();
}
