import { newPrivacyCounts } from "../../src/core/privacy_counts.ts";
import type { StreamRecord } from "../../src/core/stream/reply.ts";
import { newRuleText, newTokenText } from "../../src/privacy/answer_text.ts";
import { NO_PACE } from "../../src/privacy/pace.ts";
import { searchStream } from "../../src/privacy/restore_stream.ts";
import { assertEquals } from "../support/assert.ts";
import { rulesOf } from "./rules.ts";
import { eventOf, PLAIN } from "./stream_cases.ts";

const WANTED = { grown: () => {}, isCancelled: () => false, ended: () => [] };

const REFUSES = "find: [email], phase: response, action: refuse";

Deno.test("the failure of a refused stream has the number behind the last event or sign of life", async () => {
  const numbered = (sequence_number: number, delta: string) =>
    eventOf({ type: "response.output_text.delta", sequence_number, delta });
  const failed = eventOf({ type: "response.failed", sequence_number: 9 });
  async function* records(): AsyncGenerator<readonly StreamRecord[]> {
    yield [numbered(3, "Well, ")];
    yield [numbered(5, "it is jane@"), numbered(6, "example.org"), numbered(7, " .")];
  }
  const { groups, keepAlive } = searchStream(
    { records: records(), keepAlive: () => eventOf({ type: "x", sequence_number: 4 }) },
    newRuleText(rulesOf(REFUSES), newPrivacyCounts()),
    PLAIN,
    {
      stop: () => [failed, { event: null, data: "", raw: ": end\n\n" }],
      stopped: () => {},
      pace: () => NO_PACE,
      ...WANTED,
    },
  );
  const numbers: unknown[] = [];
  const read = (sent: readonly StreamRecord[]) => {
    for (const { data } of sent) if (data !== "") numbers.push(JSON.parse(data).sequence_number);
  };
  read((await groups.next()).value?.records ?? []);
  const sign = keepAlive?.() ?? null;
  read(sign === null ? [] : [sign]);
  for await (const group of groups) read(group.records);
  assertEquals(numbers, [3, 4, 5]);
});

Deno.test("a long event is searched in turns with other work, and no sign of life overtakes it", async () => {
  const delta = `${"Some words. ".repeat(50_000)}jane@example.org is here`;
  const turns: (() => void)[] = [];
  let paces = 0;
  const pace = {
    ...NO_PACE,
    next: () => turns.length > 0 ? null : new Promise<void>((go) => void turns.push(go)),
  };
  async function* records(): AsyncGenerator<readonly StreamRecord[]> {
    yield [eventOf({ type: "response.output_text.delta", delta: "Well, " })];
    yield [eventOf({ type: "response.output_text.delta", delta })];
  }
  const { groups, keepAlive } = searchStream(
    { records: records(), keepAlive: () => eventOf({ type: "x", sequence_number: 4 }) },
    newRuleText(rulesOf("find: [email], phase: response, action: mask"), newPrivacyCounts()),
    PLAIN,
    {
      stop: () => [],
      stopped: () => {},
      pace() {
        paces += 1;
        return pace;
      },
      ...WANTED,
    },
  );
  await groups.next();
  assertEquals(paces, 0, "a short event needs no turn");
  const next = groups.next();
  while (turns.length === 0) await Promise.resolve();
  assertEquals(keepAlive?.()?.data, "");
  turns[0]?.();
  const [record] = (await next).value?.records ?? [];
  assertEquals(paces, 1);
  const text = JSON.parse(record?.data ?? "{}").delta;
  assertEquals(text === delta.replace("jane@example.org", "[email]"), true, text.slice(-40));
});

Deno.test("what values bring to a long event is held while it is searched, and the search ends with its call", async () => {
  const token = { core: "qzbadofikumapolosi", label: "email", value: "v".repeat(1_000) };
  const delta = "qzbadofikumapolosiemail ".repeat(5_000);
  async function* records(): AsyncGenerator<readonly StreamRecord[]> {
    yield [eventOf({ type: "response.output_text.delta", delta })];
  }
  const failed = eventOf({ type: "response.failed" });
  let grownChars = 0;
  const stream = searchStream(
    { records: records() },
    newTokenText(new Map([[token.core, token]]), newPrivacyCounts()),
    PLAIN,
    {
      stop: () => [],
      stopped: () => {},
      pace: () => NO_PACE,
      grown: (chars) => void (grownChars += chars),
      isCancelled: () => stream.heldChars() > 2_000_000,
      ended: () => [failed],
    },
  );
  assertEquals((await stream.groups.next()).value?.records, [failed]);
  assertEquals((await stream.groups.next()).done, true);
  assertEquals([grownChars > 2_000_000, grownChars < 4_000_000], [true, true]);
});
