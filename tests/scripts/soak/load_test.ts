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
): Promise<LoadResult & { readonly seen: ReadonlySet<string>; readonly requests: number }> {
  const world = newRealWorld();
  await using upstream = serveUpstream();
  const seen = new Set<string>();
  let requests = 0;
  const gateway = newGateway(compile(configOf(configText(upstream.url, 0)), 1), world, []);
  const app = createApp(gateway);
  const server = listen(
    async (request, peer) => {
      requests++;
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
  return { ...result, seen, requests };
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

Deno.test("the longest use of the soak, files with batches and uploads, has up to 22 requests", async () => {
  assertEquals((await runOnce(/^files, /)).requests, 22);
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

/** Number of models that a use has in turn; as many rounds use each of them once. */
const MODEL_COUNT = 7;

/** Each alteration with the number of models of `MODEL_COUNT` whose answers it changes, and its problem. */
const ALTERATIONS: readonly (readonly [string, number, RegExp, (text: string) => string])[] = [
  ["has no usage", 7, /Tokens: received null/, (text) => text.replaceAll('"usage"', '"used"')],
  [
    "counts one token more",
    7,
    /Tokens: received/,
    (text) =>
      text.replaceAll(
        /"((?:output|completion)_tokens)":(\d+)/g,
        (_all, name, count) => `"${name}":${Number(count) + 1}`,
      ),
  ],
  [
    "has another reason of its end",
    6,
    /reason: received|has no end/,
    (text) =>
      text.replaceAll(/"(stop|tool_calls)"(?=[,}])/g, '"length"')
        .replaceAll(/"(end_turn|tool_use)"(?=,"stop_seq)/g, '"max_tokens"')
        .replaceAll('"status":"completed"', '"status":"incomplete"'),
  ],
  [
    "calls a function with a part of its arguments",
    2,
    /calls: received|has no end/,
    (text) =>
      text.replaceAll(/,(\\?)"days\1":3/g, "").split("\n\n")
        .filter((block) => !LAST_PIECE.test(block)).join("\n\n"),
  ],
  ["calls another function", 1, /calls: received/, (text) => text.replaceAll("clock", "watch")],
  [
    "has another ID of its calls",
    2,
    /calls: received/,
    (text) => text.replaceAll(/"(call_|toolu_)/g, '"$1x'),
  ],
  [
    "has another reasoning",
    2,
    /reasoning: received/,
    (text) => text.replaceAll("says:", "said:"),
  ],
  [
    "is cut at its limit with another text",
    1,
    /text: received/,
    (text) => text.replaceAll("middle", "muddle"),
  ],
  [
    "is cut at its limit and says that it is whole",
    1,
    /reason: received/,
    (text) =>
      text.replaceAll('"length"', '"stop"').replaceAll('"max_tokens"', '"end_turn"')
        .replaceAll(/"incomplete_details":\{[^}]*\}/g, '"incomplete_details":null')
        .replaceAll('"status":"incomplete"', '"status":"completed"')
        .replaceAll("response.incomplete", "response.completed"),
  ],
  [
    "reports an error",
    7,
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
          MODEL_COUNT,
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
      MODEL_COUNT,
    );
    assert(problems.length >= 4, problems.join("\n"));
    for (const one of problems) assertMatch(one, /text: received|has no end/);
  });
}

const CHOICE_ALTERATIONS: readonly (readonly [string, RegExp, (text: string) => string])[] = [
  [
    "exchanges two choices",
    /furtherChoices: received/,
    (text) =>
      text.replaceAll(
        /"index":([12])(?=,"(?:delta|finish|message))/g,
        (_all, index) => `"index":${3 - index}`,
      ),
  ],
  [
    "has no third choice",
    /furtherChoices: received/,
    (text) => text.replaceAll('"index":2', '"index":1'),
  ],
  [
    "has another end of its third choice",
    /furtherChoices: received|has no end/,
    (text) =>
      text.replace(/("index":2,(?:"delta":\{\},)?"finish_reason":)"tool_calls"/, '$1"stop"'),
  ],
];

for (const [what, problem, alter] of CHOICE_ALTERATIONS) {
  Deno.test(`a soak notices a chat answer of several choices that ${what}`, async () => {
    const { problems } = await runOnce(
      /^three choices of chat/,
      async (response) => new Response(alter(await response.text()), response),
      2,
    );
    // Each use has the model with calls in one of two rounds; their IDs differ between the choices.
    assert(problems.length >= 4, problems.join("\n"));
    for (const one of problems) assertMatch(one, problem);
  });
}

/** Changes of the responses about stored objects: what, which uses notice it, its problem. */
const STORED_ALTERATIONS: readonly (readonly [string, RegExp, RegExp, (text: string) => string])[] =
  [
    [
      "a deletion names another object",
      /^(conversations|stored chat over native|files, .*|(cancelled )?background responses over native|stored responses over native)$/,
      /the response of the deletion is/,
      (text) => text.includes('"deleted":true') ? text.replace(/"id": ?"\w+_?-?/, "$&x") : text,
    ],
    [
      "a deletion says that nothing was deleted",
      /^(conversations|stored chat over native|files, .*)$/,
      /the response of the deletion is/,
      (text) => text.replace('"deleted":true', '"deleted":false'),
    ],
    [
      "a list has no elements",
      /^(conversations|stored chat over native|files, .*|stored responses over .*)$/,
      /is \[\], not \[|the page is/,
      (text) => text.replace(/"data": ?\[\{.*\}\],(?="first_id")/, '"data":[],'),
    ],
    [
      "a list names another last element",
      /^(conversations|stored chat over native|files, .*|stored responses over .*)$/,
      /the page is/,
      (text) => text.replace(/"last_id": ?"/, "$&x"),
    ],
    [
      "a cancelled response has another status",
      /^cancelled background responses over native$/,
      /the cancelled response is/,
      (text) => text.replaceAll('"status":"cancelled"', '"status":"in_progress"'),
    ],
    [
      "a cancelled batch or upload is not cancelled",
      /^files, /,
      /the cancelled batch is/,
      (text) => text.replaceAll('"status":"cancelled"', '"status":"completed"'),
    ],
  ];

for (const [what, uses, problem, alter] of STORED_ALTERATIONS) {
  Deno.test(`a soak notices that ${what}`, async () => {
    const { problems } = await runOnce(uses, async (response) => {
      const isJson = response.headers.get("content-type")?.startsWith("application/json");
      return isJson ? new Response(alter(await response.text()), response) : response;
    });
    assertEquals(problems.length, USES.filter(({ name }) => uses.test(name)).length);
    for (const one of problems) assertMatch(one, problem);
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
