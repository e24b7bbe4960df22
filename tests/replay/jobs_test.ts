import fc from "fast-check";
import { reportJson } from "../../src/replay/report.ts";
import type { StartReplayThread } from "../../src/replay/replay_thread.ts";
import { assertEquals } from "../support/assert.ts";
import { configText, DRAWN_CALL, DRAWN_CONFIG } from "../support/drawn_calls.ts";
import { recordOf, replayed, startHere } from "../support/replay.ts";

Deno.test("a report is the same with any number of threads", async () => {
  await fc.assert(
    fc.asyncProperty(
      DRAWN_CONFIG,
      DRAWN_CONFIG,
      fc.array(DRAWN_CALL, { minLength: 1, maxLength: 6 }),
      async (before, after, calls) => {
        const records = Array.from({ length: 70 }, (_, at) => ({
          ...calls[at % calls.length]!,
          id: `call-${at}`,
        }));
        const files = [configText(before), configText(after)] as const;
        const first = reportJson(await replayed(records, ...files), true);
        for (const jobs of [2, 64]) {
          assertEquals(
            reportJson(await replayed(records, ...files, { jobs, start: startHere }), true),
            first,
          );
        }
      },
    ),
    { numRuns: 4 },
  );
});

const FILE = `
providers:
  compat: {type: compat, base_url: "https://api.openai.com/v1", api_key: k}
  claude: {type: messages, base_url: "https://api.anthropic.com", api_key: k}
routing: {routes: [{name: main, targets: [{provider: compat, model: m}]}]}
`;

Deno.test("threads of the runtime give the report of one, also for conversations that continue", async () => {
  const response = (id: string) => ({
    id,
    object: "response",
    status: "completed",
    model: "m",
    output: [{
      ...{ id: `msg_${id}`, type: "message", role: "assistant", status: "completed" },
      content: [{ type: "output_text", text: "answer", annotations: [] }],
    }],
  });
  const records = Array.from({ length: 100 }, (_, at) => {
    const time = { id: `call-${at}`, at: new Date(1_700_000_000_000 + at).toISOString() };
    if (at % 2 === 0) {
      return recordOf("/v1/chat/completions", {
        model: "m",
        messages: [{ role: "user", content: `${at}` }],
      }, time);
    }
    const previous = at < 4 ? {} : { previous_response_id: `resp_${at - 4}` };
    const record = recordOf("/v1/responses", { model: "m", input: "go on", ...previous }, {
      ...time,
      response: { headers: {}, body: JSON.stringify(response(`resp_${at}`)), events: null },
    });
    return at < 4
      ? record
      : { ...record, previous: { response: previous.previous_response_id ?? "", record: null } };
  });
  const after = FILE.replace("provider: compat, model", "provider: claude, model");
  const first = await replayed(records, FILE, after);
  assertEquals([first.replayed, first.different], [100, 100]);
  const parallel = await replayed(records, FILE, after, { jobs: 2 });
  assertEquals(reportJson(parallel, true), reportJson(first, true));
});

Deno.test("a thread that ends makes the replay fail", async () => {
  const record = recordOf("/v1/chat/completions", { model: "m", messages: [] });
  const crashing: StartReplayThread = ({ onCrash }) => ({
    post: (request) => request.kind === "replay" && queueMicrotask(onCrash),
    terminate: () => {},
  });
  const failed = replayed([record, record], FILE, FILE, { jobs: 2, start: crashing });
  assertEquals(
    await failed.catch((error: Error) => error.message),
    "a thread of the replay has ended",
  );
});
