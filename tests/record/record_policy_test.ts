import { newRecordMask } from "../../src/record/record_mask.ts";
import { openRecordFile } from "../../src/record/record_file.ts";
import { recordPolicy } from "../../src/record/record_settings.ts";
import { privacyConfig } from "../privacy/rules.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { answers, COMPLETION } from "../support/chat_call.ts";
import { oneProvider } from "../support/gateway.ts";
import { parsedConfig } from "../support/parsed_config.ts";
import { scriptedWorld } from "../support/world.ts";
import {
  allRecords,
  fileOptions,
  recordingGateway,
  recordSection,
  withFolder,
  written,
} from "./support.ts";

const MAIL = "bob.miller@example.com";

const RULES = [
  "find: [email], action: refuse",
  "find: [card], action: replace",
  "words: [kingfisher], phase: response, action: monitor",
];

/** Selects the policy for records alone, so that calls have none. */
function policyText(): string {
  return privacyConfig(RULES).replace("  default: p\n", "");
}

Deno.test("a policy of privacy masks records wherever a client or a provider writes, and no call", () =>
  withFolder(async (folder) => {
    const content = `Mail ${MAIL} the kingfisher`;
    const message = { role: "assistant", content };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    const world = scriptedWorld({ fetch: () => answers(200, { ...COMPLETION, choices }) });
    const text = recordSection(folder, "calls: all, policy: p") + policyText() +
      oneProvider("http://up");
    const { app, finish } = await recordingGateway(text, world);
    const request = new Request(`http://localhost/v1/chat/completions?user=${MAIL}`, {
      method: "POST",
      headers: { host: "localhost", "x-gateway-sessionid": MAIL, "x-gateway-note": MAIL },
      body: JSON.stringify({
        model: MAIL,
        messages: [{ role: "user", content }],
        seed: 4111111111111111,
      }),
    });
    const response = await app(request);
    assertEquals(response.status, 200);
    assert((await response.text()).includes(MAIL));
    const [record] = await finish();
    const written = JSON.stringify(record);
    for (const value of [MAIL, "kingfisher", "4111111111111111"]) {
      assert(!written.includes(value), value);
    }
    const body = JSON.parse(record?.request?.body ?? "");
    assertEquals([body.messages[0].content, body.seed], ["Mail [email] the [value]", "[card]"]);
    assertEquals([record?.head.session, record?.head.model_requested], ["[email]", "[email]"]);
    assertEquals(record?.request?.query, "user=%5Bemail%5D");
    assertEquals(record?.head.redacted, {});
  }));

Deno.test("a record whose masking takes longer than the search of a request may is dropped, and the next one is not", () =>
  withFolder((folder) => {
    const config = parsedConfig(`${policyText()}${oneProvider("http://up")}`);
    const policy = recordPolicy("p", config);
    assert(typeof policy === "object");
    let now = 0;
    const mask = newRecordMask(policy, () => now);
    const text = mask?.().text;
    assertEquals(text?.(MAIL), "[email]");
    now = config.privacy.max_search_time + 1;
    assertThrows(() => text?.("a".repeat(100_000)));
    assertEquals(mask?.().text(MAIL), "[email]");

    const file = openRecordFile(fileOptions(folder, { policy: { ...policy, maxMs: -1 } }));
    const long = "a".repeat(100_000);
    const result = file.write([written("a", 1, { body: long }), written("b", 2)], 2);
    assertEquals(result.ok && [result.all, result.unredacted], [1, 1]);
    assertEquals(allRecords(file).map(({ id }) => id), ["b"]);
    file.close();
  }));

Deno.test("contains looks at a whole string of a record, whatever separators and quotes it has, and at no other one", () => {
  const rule = "pattern: 'B-[0-9]{6}', contains: [badge], action: mask";
  const config = parsedConfig(`${privacyConfig([rule])}${oneProvider("http://up")}`);
  const policy = recordPolicy("p", config);
  assert(typeof policy === "object");
  const mask = newRecordMask(policy, () => 0)?.();
  const nested = JSON.stringify({ kind: "badge", id: "B-123456" });
  const body = { a: "badge\0\x01 B-123456", b: 'a "badge" is B-123456', c: nested, d: "B-654321" };
  const masked = JSON.stringify(body).replaceAll("B-123456", "[value]");
  assertEquals(mask?.text(JSON.stringify(body)), masked);
});
