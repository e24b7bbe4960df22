import { clientApis } from "../../../src/api/registry.ts";
import { listen } from "../../../src/cli/listen.ts";
import { compile } from "../../../src/gateway/compile.ts";
import { newGateway } from "../../../src/gateway/gateway.ts";
import { createApp } from "../../../src/server/app.ts";
import { newIdleLimits } from "../../../src/server/connections/idle_rules.ts";
import { newRealWorld } from "../../../src/world/real_world.ts";
import { configText } from "../../../scripts/soak/config.ts";
import { type LoadResult, runLoad, USES } from "../../../scripts/soak/load.ts";
import { serveUpstream } from "../../../scripts/soak/upstream.ts";
import { configOf } from "../../config/parse.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** Runs each of these uses once over a gateway whose responses pass through `alter`. */
async function runOnce(
  names: RegExp,
  alter: (response: Response) => Promise<Response> | Response = (response) => response,
): Promise<LoadResult & { readonly seen: ReadonlySet<string> }> {
  const world = newRealWorld();
  await using upstream = serveUpstream();
  const seen = new Set<string>();
  const gateway = newGateway(compile(configOf(configText(upstream.url, 0)), 1), world, []);
  const app = createApp(gateway);
  const server = listen(
    async (request, peer) => {
      seen.add(`${request.method} ${new URL(request.url).pathname}`);
      return await alter(await app(request, peer));
    },
    "127.0.0.1",
    0,
    newIdleLimits(120_000),
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
    mayBegin: () => begun++ < uses.length,
  });
  await gateway.state.inFlight.idle();
  await server.close();
  world.close();
  assertEquals([...result.counts.values()].reduce((sum, count) => sum + count, 0), uses.length);
  return { ...result, seen };
}

Deno.test("a round of the soak uses every endpoint, and no answer of a healthy gateway is altered", async () => {
  const { problems, seen } = await runOnce(/./);
  assertEquals(problems, []);
  const endpoints = clientApis.flatMap((api) =>
    api.endpoints.map(({ method, path }) => `${method} ${path}`)
  );
  assert(endpoints.length > 40);
  const patternOf = (endpoint: string) =>
    new RegExp(`^${endpoint.split(/:\w+(?:\{[^}]*\})?|\{[^}]*\}/).map(RegExp.escape).join(".+")}$`);
  const isUsed = (endpoint: string) => [...seen].some((one) => patternOf(endpoint).test(one));
  assertEquals(endpoints.filter((endpoint) => !isUsed(endpoint)), []);
});

for (const api of ["chat", "responses", "messages"]) {
  for (const kind of ["JSON", "stream"]) {
    Deno.test(`a soak notices one other letter in a ${api} ${kind} answer`, async () => {
      const { problems } = await runOnce(
        new RegExp(`^${api} over (compat|messages|local), ${kind}$`),
        async (response) => {
          const text = await response.text();
          const other = text.replaceAll("repeat", "repeal").replaceAll("word1", "word0")
            .replaceAll("weather", "wheater");
          return new Response(other, response);
        },
      );
      assertEquals(problems.length, 3, problems.join("\n"));
    });

    Deno.test(`a soak notices a ${api} ${kind} answer that ends early`, async () => {
      const { problems } = await runOnce(
        new RegExp(`^${api} over (compat|messages|local), ${kind}$`),
        async (response) => {
          const text = (await response.text()).trimEnd();
          const end = kind === "JSON" ? text.length - 1 : text.lastIndexOf("\n\n");
          return new Response(text.slice(0, end), response);
        },
      );
      assertEquals(problems.length, 3, problems.join("\n"));
    });
  }
}
