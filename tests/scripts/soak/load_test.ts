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
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";

/** Runs each of these uses once over a gateway whose responses pass through `alter`. */
async function runOnce(
  names: RegExp,
  alter: (response: Response) => Promise<Response> | Response = (response) => response,
  rounds = 1,
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
    mayBegin: () => begun++ < rounds * uses.length,
  });
  await gateway.state.inFlight.idle();
  await server.close();
  world.close();
  assertEquals(
    [...result.counts.values()].reduce((sum, count) => sum + count, 0),
    rounds * uses.length,
  );
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

/** Returns a text with the blocks of its first two differing deltas of text exchanged. */
function exchanged(text: string): string {
  const blocks = text.split("\n\n");
  const positions = [...blocks.keys()].filter((at) =>
    /"(content|text|delta)":"[^"]*word\d/.test(blocks[at] ?? "") &&
    !/\.done"|completed"|output_item/.test(blocks[at] ?? "")
  );
  const [one, other] = positions;
  if (one === undefined || other === undefined) return text;
  return blocks.with(one, blocks[other] ?? "").with(other, blocks[one] ?? "").join("\n\n");
}

/** A record with the end of the arguments of a call. */
const LAST_PIECE = /"(?:arguments|partial_json|delta)":"[^{]*\}"/;

/** Each alteration with the number of models of four whose answers it changes, and its problem. */
const ALTERATIONS: readonly (readonly [string, number, RegExp, (text: string) => string])[] = [
  ["has no usage", 4, /Tokens: received null/, (text) => text.replaceAll('"usage"', '"used"')],
  [
    "counts one token more",
    4,
    /Tokens: received/,
    (text) =>
      text.replaceAll(
        /"((?:output|completion)_tokens)":(\d+)/g,
        (_all, name, count) => `"${name}":${Number(count) + 1}`,
      ),
  ],
  [
    "has another reason of its end",
    4,
    /reason: received|has no end/,
    (text) =>
      text.replaceAll(/"(stop|tool_calls)"(?=[,}])/g, '"length"')
        .replaceAll(/"(end_turn|tool_use)"(?=,"stop_seq)/g, '"max_tokens"')
        .replaceAll('"status":"completed"', '"status":"incomplete"'),
  ],
  [
    "calls a function with a part of its arguments",
    1,
    /calls: received|has no end/,
    (text) =>
      text.replaceAll(/,(\\?)"days\1":3/g, "").split("\n\n")
        .filter((block) => !LAST_PIECE.test(block)).join("\n\n"),
  ],
  ["calls another function", 1, /calls: received/, (text) => text.replaceAll("clock", "watch")],
  [
    "reports an error",
    4,
    /has an error/,
    (text) =>
      text.trimStart().startsWith("{")
        ? text.replace(
          text.includes('"error":null,') ? '"error":null,' : /(?<=^\{)/,
          '"error":{"code":"x"},',
        )
        : text.replace(
          /(?:event: \w.*\n)?data: \{/,
          'data: {"type":"error","error":{"code":"x"}}\n\n$&',
        ),
  ],
];

for (const api of ["chat", "responses", "messages"]) {
  for (const kind of ["JSON", "stream"]) {
    const names = new RegExp(`^${api} over (compat|messages|local|native), ${kind}$`);
    for (const [what, models, problem, alter] of ALTERATIONS) {
      Deno.test(`a soak notices a ${api} ${kind} answer that ${what}`, async () => {
        const { problems } = await runOnce(
          names,
          async (response) => new Response(alter(await response.text()), response),
          4,
        );
        assertEquals(problems.length, 4 * models, problems.join("\n"));
        for (const one of problems) assertMatch(one, problem);
      });
    }
  }

  Deno.test(`a soak notices a ${api} stream with two pieces of text exchanged`, async () => {
    const { problems } = await runOnce(
      new RegExp(`^${api} over (compat|messages|local|native), stream$`),
      async (response) => new Response(exchanged(await response.text()), response),
      4,
    );
    assert(problems.length >= 4, problems.join("\n"));
    for (const one of problems) assertMatch(one, /text: received|has no end/);
  });
}

Deno.test("a soak notices that a client received another error than the one of the break", async () => {
  const uses = /^chat over compat, (JSON|stream), the upstream breaks$/;
  const { problems } = await runOnce(uses, async (response) => {
    const text = await response.text();
    return new Response(text, { status: 400, headers: response.headers });
  });
  assertEquals(problems.length, 2);
  for (const problem of problems) assertMatch(problem, /not the status \d+ of breaking-compat\//);
});

Deno.test("a soak notices that a client that leaves has received another text", async () => {
  const { problems } = await runOnce(/the client leaves within the stream$/, (response) => {
    const altered = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(
      new TransformStream<string, string>({
        transform: (text, controller) => controller.enqueue(text.replaceAll("Please", "Plaese")),
      }),
    ).pipeThrough(new TextEncoderStream());
    return new Response(altered, response);
  });
  assertEquals(problems.length, 12);
});
