import type { JsonObject } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { assertValid } from "../support/schemas.ts";
import { delivered, isFinish } from "./delivered.ts";
import { finish, HELLO, IDENTITY, ROLE, sse, streamed, WITH_USAGE } from "./streamed.ts";

const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const EARLIER = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 };

/** Each way in which upstreams send their usage. */
const REPORTED: readonly (readonly [name: string, text: string])[] = [
  [
    "in a chunk of its own",
    sse(ROLE, HELLO, finish(), { ...IDENTITY, choices: [], usage: USAGE }, "[DONE]"),
  ],
  [
    "in a chunk without choices",
    sse(ROLE, HELLO, finish(), { ...IDENTITY, usage: USAGE }, "[DONE]"),
  ],
  ["in the finish chunk", sse(ROLE, HELLO, finish({ usage: USAGE }), "[DONE]")],
  [
    "in every chunk",
    sse(
      { ...ROLE, usage: EARLIER },
      { ...HELLO, usage: EARLIER },
      finish({ usage: EARLIER }),
      { ...IDENTITY, choices: [], usage: USAGE },
      "[DONE]",
    ),
  ],
  [
    "as null until the end",
    sse(
      { ...ROLE, usage: null },
      { ...HELLO, usage: null },
      finish({ usage: null }),
      { ...IDENTITY, choices: [], usage: USAGE },
      "[DONE]",
    ),
  ],
  [
    "before the finish chunk",
    sse(ROLE, HELLO, { ...IDENTITY, choices: [], usage: USAGE }, finish(), "[DONE]"),
  ],
  [
    "twice",
    sse(
      ROLE,
      HELLO,
      finish({ usage: EARLIER }),
      { ...IDENTITY, choices: [], usage: EARLIER },
      { ...IDENTITY, choices: [], usage: USAGE },
      "[DONE]",
    ),
  ],
  [
    "without [DONE]",
    sse(ROLE, HELLO, finish(), { ...IDENTITY, choices: [], usage: USAGE }),
  ],
];

const COUNTED = { input: 9, output: 4, total: 13, cached: 0, cacheWrite: 0, reasoning: 0 };

function withoutUsage({ usage: _usage, ...rest }: JsonObject): JsonObject {
  return rest;
}

for (const [name, text] of REPORTED) {
  Deno.test(`usage received ${name} is sent once, last, to a client that requests it`, async () => {
    const call = await streamed(text, { fields: WITH_USAGE });
    const { ending, chunks } = delivered(call.text);
    assertEquals(ending, "complete");
    assertEquals(chunks.at(-1), { ...IDENTITY, choices: [], usage: USAGE });
    const others = chunks.slice(0, -1);
    assertEquals(others.map((each) => each.usage ?? null), [null, null, null]);
    assertEquals(others.map(withoutUsage), [ROLE, HELLO, finish()].map((each) => ({ ...each })));
    assertEquals(chunks.filter(isFinish).length, 1);
    for (const each of chunks) assertValid("CreateChatCompletionStreamResponse", each);
    assertEquals(call.report.usage, COUNTED);
  });

  Deno.test(`usage received ${name} is not sent to a client that does not request it`, async () => {
    for (const fields of [{}, { stream_options: { include_usage: false } }]) {
      const call = await streamed(text, { fields });
      assertEquals(
        delivered(call.text).texts,
        [ROLE, HELLO, finish()].map((c) => JSON.stringify(c)),
      );
      assertEquals(call.report.usage, COUNTED);
    }
  });
}

Deno.test("a stream whose upstream sends no usage is complete without a usage chunk", async () => {
  const text = sse(ROLE, HELLO, finish(), "[DONE]");
  const call = await streamed(text, { fields: WITH_USAGE });
  assertEquals(call.text, text);
  assertEquals(call.report.usage, null);
});

Deno.test("a usage without its total gets the sum", async () => {
  const { total_tokens: _total, ...usage } = USAGE;
  const text = sse(HELLO, finish(), { ...IDENTITY, choices: [], usage }, "[DONE]");
  const { chunks } = delivered((await streamed(text, { fields: WITH_USAGE })).text);
  assertEquals(chunks.at(-1)?.usage, USAGE);
});

Deno.test("members of a usage next to the counts are forwarded unchanged", async () => {
  const usage = '{"prompt_tokens": 9, "completion_tokens":4,"total_tokens":13,"cost":1.50e-3}';
  const head = JSON.stringify({ ...IDENTITY, choices: [] }).slice(0, -1);
  const text = sse(HELLO, finish(), `${head},"usage":${usage}}`, "[DONE]");
  const { texts } = delivered((await streamed(text, { fields: WITH_USAGE })).text);
  assertEquals(texts.at(-1)?.endsWith(`"usage":${usage}}`), true);
});
