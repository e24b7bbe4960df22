import { isObject } from "../../src/core/json/json.ts";
import { findBehaviour, MODELS } from "../../src/simulator/model_behaviour.ts";
import { NATIVE_QUIRKS, type NativeQuirk } from "../../src/simulator/quirks.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { eventsIn, newNativeClient } from "./native_client.ts";
import { brokenRules } from "./native_stream_rules.ts";

/** The only rule that each quirk breaks; null if it keeps all rules. */
const RULES: Readonly<Record<NativeQuirk, string | null>> = {
  "gaps": null,
  "comments": null,
  "failed": null,
  "cancelled": null,
  "later-id": null,
  "no-sequence": "sequence is an integer",
  "sequence-text": "sequence is an integer",
  "sequence-fraction": "sequence is an integer",
  "sequence-negative": "sequence is an integer",
  "sequence-repeats": "sequence rises",
  "two-ids": "one identity",
  "terminal-id": "one identity",
  "padded-id": "identity is exact",
  "empty-id": "identity is exact",
  "no-id": "identity is exact",
  "event-mismatch": "agreement",
  "status-mismatch": "agreement",
  "no-response": "response",
  "no-terminal": "terminal",
  "early-done": "terminal",
  "two-terminals": "one terminal",
  "not-json": "object",
  "not-object": "object",
  "too-many-comments": "preflight",
  "status-202": "status",
  "status-503": "status",
};

async function streamOf(
  model: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const body = { model, input: "hi", stream: true };
  const response = await newNativeClient().call("POST /responses", body);
  return { status: response.status, text: await response.text() };
}

Deno.test("each native quirk breaks exactly one rule of the stream", async () => {
  for (const quirk of NATIVE_QUIRKS) {
    const rule = RULES[quirk];
    const expected = rule === null ? [] : [rule];
    const { status, text } = await streamOf(`sim-native-${quirk}`);
    assertEquals(brokenRules(status, text), expected, quirk);
  }
});

Deno.test("a quirk with the suffix -first breaks the same rule in the first event", async () => {
  const early = NATIVE_QUIRKS.filter((quirk) =>
    findBehaviour(`sim-native-${quirk}-first`) !== null
  );
  assert(early.includes("no-id") && !early.includes("two-ids"));
  for (const quirk of early) {
    const { status, text } = await streamOf(`sim-native-${quirk}-first`);
    const rule = RULES[quirk] ?? "none";
    const [first = ""] = text.split("\n\n");
    assertEquals(brokenRules(status, text), [rule], quirk);
    assert(brokenRules(status, `${first}\n\n`).includes(rule), quirk);
  }
});

Deno.test("quirk models are in the catalog, and other quirk names are unknown models", () => {
  assert(MODELS.includes("sim-native-two-ids") && MODELS.includes("sim-stored-changing-id"));
  for (
    const model of ["sim-native-nothing", "sim-native-two-ids-first", "sim-stored-no-id-first"]
  ) {
    assertEquals(findBehaviour(model), null);
  }
});

Deno.test("a whole response shows the quirks that do not need a stream", async () => {
  const whole = async (quirk: NativeQuirk) => {
    const body = { model: `sim-native-${quirk}`, input: "hi" };
    const response = await newNativeClient().call("POST /responses", body);
    const text = await response.text();
    return { status: response.status, text };
  };
  assertEquals((await whole("status-202")).status, 202);
  assertEquals((await whole("status-503")).status, 503);
  assert((await whole("padded-id")).text.startsWith('{"id":" resp_'));
  assert((await whole("empty-id")).text.startsWith('{"id":""'));
  assert((await whole("no-id")).text.startsWith('{"object":"response"'));
  assert((await whole("no-response")).text.includes('"object":"list"'));
  assert((await whole("not-json")).text.endsWith(",}"));
  assert((await whole("not-object")).text.startsWith("["));
  assert((await whole("two-ids")).text.startsWith('{"id":"resp_'));
  assert((await whole("failed")).text.includes('"status":"failed","error":{'));
});

Deno.test("sim-native-later-id changes the id only in responses after the create", async () => {
  const upstream = newNativeClient();
  const body = { model: "sim-native-later-id", input: "hi", background: true };
  const created = await upstream.json("POST /responses", body);
  const line = `/responses/${created.id}`;
  assertEquals((await upstream.json(`GET ${line}`)).id, `${created.id}0`);
  assertEquals((await upstream.json(`POST ${line}/cancel`)).id, `${created.id}0`);
  assertEquals((await upstream.json(`DELETE ${line}`)).id, `${created.id}0`);
});

Deno.test("chat completions ignore native quirks", async () => {
  const upstream = newNativeClient();
  const messages = [{ role: "user", content: "hi" }];
  const body = { model: "sim-native-two-ids", messages };
  const { choices } = await upstream.json("POST /chat/completions", body);
  const [choice] = Array.isArray(choices) ? choices : [];
  assert(isObject(choice) && isObject(choice.message));
  assertEquals(choice.message.content, "one two three four five six seven eight");
});

Deno.test("sim-native-gaps starts its sequence numbers above zero and skips numbers", async () => {
  const { text } = await streamOf("sim-native-gaps");
  assertEquals(eventsIn(text).slice(0, 3).map((event) => event.sequence_number), [7, 10, 13]);
});
