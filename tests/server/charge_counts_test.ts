import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { keyOf } from "../support/client_keys.ts";
import { keys, limitedGateway, USAGE } from "../support/limited_gateway.ts";
import {
  type Attempt,
  LIMITS,
  type Operation,
  OPERATIONS,
  type Script,
} from "./charge/operations.ts";
import { runScript } from "./charge/script.ts";
import { chargesOf } from "./charge/sums.ts";
import { newStream } from "./charge/written_stream.ts";

const COUNTS = { input: 100, output: 50, cached: 30 };

/**
 * A script of a stream over this operation, whose response is complete unless something else is
 * said.
 */
function scriptOf(path: Operation["path"], wire: Operation["wire"], more: Partial<Script>): Script {
  const operation = OPERATIONS.find((one) => one.path === path && one.wire === wire);
  assert(operation !== undefined);
  const usual = {
    stream: true,
    attempts: [],
    last: COUNTS,
    zeros: "none",
    hasOther: false,
    hasBreaker: false,
    isRepeated: false,
  } as const;
  return { operation, end: "complete", ...usual, ...more };
}

function failing(end: Attempt["end"]): readonly Attempt[] {
  return [{ ...COUNTS, input: 1_000, end }];
}

/** The charge of a first attempt of 1,050 tokens and a second one of 150. */
const BOTH = { tokens: 1_200, nanoUsd: 2_240_000 };

Deno.test("counts of a response with a status of success that is no response are charged", async () => {
  for (const stream of [false, true]) {
    const attempts = failing("accepted");
    const { quotas } = await runScript(
      scriptOf("/v1/chat/completions", "compat", { stream, attempts }),
    );
    assertEquals(quotas, BOTH);
  }
});

Deno.test("counts of a whole response to a request for a stream are charged", async () => {
  for (const wire of ["compat", "messages", "responses"] as const) {
    const attempts = failing("not streamed");
    const { quotas } = await runScript(scriptOf("/v1/chat/completions", wire, { attempts }));
    assertEquals(quotas, BOTH, wire);
  }
});

Deno.test("counts that a provider sends after a record that cannot be delivered are charged", async () => {
  const before = await runScript(
    scriptOf("/v1/chat/completions", "compat", { attempts: failing("unusable") }),
  );
  assertEquals(before.quotas, BOTH);
  const after = await runScript(
    scriptOf("/v1/chat/completions", "messages", { end: "unusable after content" }),
  );
  assertEquals(after.quotas, { tokens: 150, nanoUsd: 220_000 });
});

Deno.test("a client that leaves while the counts of a broken promise are read pays for them", async () => {
  const { quotas, reports } = await runScript(
    scriptOf("/v1/chat/completions", "messages", {
      attempts: failing("promise"),
      end: "left within an attempt",
    }),
  );
  assertEquals(quotas, { tokens: 1_050, nanoUsd: 2_020_000 });
  assertEquals(reports.at(-1)?.failure?.kind, "client_cancelled");
});

Deno.test("a client that leaves after the last text of a Messages or Responses stream pays for its counts", async () => {
  for (const wire of ["messages", "responses"] as const) {
    for (const path of ["/v1/chat/completions", "/v1/messages", "/v1/responses"]) {
      const end = "left after finish, late counts";
      const { quotas, reports } = await runScript(scriptOf(path, wire, { end }));
      assertEquals([quotas.tokens, reports.at(-1)?.estimated], [150, false], `${path} ${wire}`);
    }
  }
});

Deno.test("a client that leaves without having read the end of a stream pays for its counts", async () => {
  const operations = [["/v1/chat/completions", "compat"], ["/v1/messages", "messages"], [
    "/v1/responses",
    "responses",
  ]] as const;
  for (const [path, wire] of operations) {
    const { quotas, reports } = await runScript(
      scriptOf(path, wire, { end: "left without reading" }),
    );
    assertEquals([quotas.tokens, reports.at(-1)?.estimated], [150, false], wire);
  }
});

/** A call whose client leaves when the first half of a whole response has come. */
async function leftWithinBody(status: number) {
  const text = JSON.stringify({ ...COMPLETION, usage: USAGE });
  const half = text.length / 2;
  const client = new AbortController();
  let body: ReturnType<typeof newStream> | null = null;
  const gateway = limitedGateway(LIMITS, {
    fetch(_url, { signal }) {
      body = newStream(signal, "application/json");
      return Promise.resolve(new Response(body.response.body, { ...body.response, status }));
    },
  });
  const request = new Request(chatRequest({ headers: keyOf("ada") }), { signal: client.signal });
  const responding = gateway.app(request);
  await gateway.world.advance(0);
  const write = (part: string) => body?.write(part) ?? false;
  assert(write(text.slice(0, half)));
  await gateway.world.advance(0);
  client.abort();
  await gateway.world.advance(0);
  return {
    ...gateway,
    /** Writes the second half; returns whether the gateway still reads. */
    end() {
      const isRead = write(text.slice(half));
      body?.close();
      return isRead;
    },
    /** Returns the tokens that are charged, and whether they are an estimate. */
    async charge() {
      await gateway.world.advance(0);
      await (await responding).body?.cancel();
      const { quotas, reports } = await chargesOf(gateway);
      assertEquals(reports.map(({ failure }) => failure?.kind), ["client_cancelled"]);
      return { tokens: quotas.tokens, isEstimated: reports[0]?.estimated };
    },
  };
}

Deno.test("a client that leaves within the body of a whole response pays for the counts in it, of which the gateway waits 5 s", async () => {
  const counted = await leftWithinBody(200);
  await counted.world.advance(4_999);
  assertEquals([counted.reports.length, counted.end()], [0, true]);
  assertEquals(await counted.charge(), { tokens: 14, isEstimated: false });

  const silent = await leftWithinBody(200);
  await silent.world.advance(5_000);
  assertEquals([silent.reports.length, silent.end()], [1, false]);
  assertEquals((await silent.charge()).isEstimated, true);
});

Deno.test("an error whose client leaves within its body is not read on", async () => {
  const refused = await leftWithinBody(400);
  assertEquals([refused.reports.length, refused.end()], [1, false]);
  assertEquals((await refused.charge()).isEstimated, true);
});

Deno.test("the last output of a Messages stream counts, also if the delivered text seems longer", async () => {
  const last = { ...COUNTS, output: 2 };
  const { quotas } = await runScript(
    scriptOf("/v1/messages", "messages", { last, end: "left after counts" }),
  );
  assertEquals(quotas.tokens, 102);
});

Deno.test("reasoning that a provider counts in the total only costs what output costs", async () => {
  const usage = { prompt_tokens: 30, completion_tokens: 10, total_tokens: 300 };
  const gateway = limitedGateway(LIMITS, {
    fetch: () => answers(200, { ...COMPLETION, usage }),
  });
  const response = await gateway.app(chatRequest({ headers: keyOf("ada") }));
  await response.body?.cancel();
  const { quotas, metrics, usage: report } = await chargesOf(gateway);
  const charged = { tokens: 300, nanoUsd: (2 * 30 + 270) * 1_000 };
  assertEquals([quotas, metrics, report], [charged, charged, charged]);
});

Deno.test("usage keeps the beginning of a model's name, which clients choose", async () => {
  const model = "m".repeat(100_000);
  for (const status of [200, 404]) {
    const { app, gateway } = limitedGateway(keys({ ada: {} }), {
      fetch: () => answers(status, status === 200 ? COMPLETION : { error: {} }),
    });
    const response = await app(chatRequest({ headers: keyOf("ada"), body: { model } }));
    await response.body?.cancel();
    assertEquals(response.status, status);
    const usage = await gateway.state.usage.read(["2023-11-14"]);
    const rows = usage.ok ? usage.value : [];
    assertEquals(rows.map((row) => [row.model, row.calls]), [["m".repeat(256), 1]]);
  }
});
