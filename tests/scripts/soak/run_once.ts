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

/**
 * Runs these uses in turn, `rounds` times each, over a gateway whose responses pass through
 * `alter`.
 */
export async function runOnce(
  names: RegExp,
  alter: (response: Response, path: string) => Promise<Response> | Response = (response) =>
    response,
  rounds = 1,
): Promise<LoadResult & { readonly seen: ReadonlySet<string>; readonly requests: number }> {
  const world = newRealWorld();
  await using upstream = serveUpstream();
  const seen = new Set<string>();
  let requests = 0;
  const gateway = newGateway(
    compile(configOf(configText(plainSetting(upstream.url), 0)), 1),
    world,
    [],
  );
  const app = createApp(gateway);
  const server = listen(
    async (request, peer) => {
      requests++;
      seen.add(`${request.method} ${new URL(request.url).pathname}`);
      return await alter(await app(request, peer), new URL(request.url).pathname);
    },
    "127.0.0.1",
    0,
    newIdleLimits({ idle_timeout: 120_000, write_timeout: 60_000 }),
  );
  if (!server.ok) throw new Error(server.trouble);
  const uses = USES.filter(({ name }) => names.test(name));
  let begun = 0;
  const result = await runLoad({
    url: server.url,
    upstream,
    uses,
    rate: 1000,
    from: 0,
    mayBegin: () => begun++ < rounds * uses.length,
  });
  await gateway.state.inFlight.idle();
  await server.close();
  world.close();
  assertEquals(
    [...result.counts.values()].reduce((sum, count) => sum + count, 0),
    rounds * uses.length,
  );
  return { ...result, seen, requests };
}
