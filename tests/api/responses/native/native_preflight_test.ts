import { newNativeRelay } from "../../../../src/api/responses/native/relay.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { delta, failureIn, keepalive, lifecycle, relayed, sse } from "./native_stream.ts";

const MIB = 1024 * 1024;
const END = sse(lifecycle("response.completed", 5000));

Deno.test("comments and keep-alives are buffered, and sent with the first event", () => {
  const relay = newNativeRelay({
    conversation: null,
    storesNothing: false,
    expected: null,
    newId: () => "",
    unix: () => 0,
    model: "",
  });
  const empty = { event: null, data: "", raw: ": hello\n\n" };
  const data = JSON.stringify({ type: "keepalive", sequence_number: 1 });
  const waiting = [empty, { event: "keepalive", data, raw: null }, empty];
  for (const record of waiting) assertEquals(relay.push(record), { ok: true, value: [] });
  const first = { event: null, data: JSON.stringify(delta(9)), raw: null };
  assertEquals(relay.push(first), { ok: true, value: [...waiting, first] });
  assertEquals(relay.push(empty), { ok: true, value: [empty] });
});

Deno.test("every accepted event except a keep-alive begins the response", async () => {
  const types = ["response.created", "response.queued", "response.in_progress"];
  for (const first of [...types.map((type) => sse(lifecycle(type, 0))), sse(delta(0))]) {
    const { refused, text, broken } = await relayed(first);
    assert(refused === null && text.startsWith(first) && broken !== null, text);
    failureIn(text.slice(first.length), 1);
  }
});

Deno.test("the response ID of a stream is known when the first record is sent", () => {
  const relay = newNativeRelay({
    conversation: null,
    storesNothing: false,
    expected: null,
    newId: () => "",
    unix: () => 0,
    model: "",
  });
  const ids = [
    { type: "keepalive", sequence_number: 0, response_id: "resp_1" },
    delta(1),
    lifecycle("response.in_progress", 2),
    lifecycle("response.in_progress", 2, { id: "resp_2" }),
    lifecycle("response.completed", 3),
  ].map((event) => {
    relay.push({ event: null, data: JSON.stringify(event), raw: null });
    return relay.identity?.() ?? null;
  });
  assertEquals(ids, [null, "resp_1", "resp_1", "resp_1", "resp_1"]);
});

Deno.test("1,024 records are buffered, and one more is refused", async () => {
  const waiting = (count: number) =>
    Array.from(
      { length: count },
      (_, at) => at % 2 === 0 ? ": ping\n\n" : sse({ type: "keepalive", sequence_number: at }),
    ).join("");
  const most = waiting(1024) + END;
  assertEquals((await relayed(most)).text, most);
  assertEquals((await relayed(waiting(1025) + END)).refused?.kind, "upstream_response_too_large");
});

Deno.test("4 MiB of records are buffered, and one byte more is refused", async () => {
  const comment = (size: number) => `:${"x".repeat(size - 3)}\n\n`;
  const most = comment(3 * MIB) + comment(MIB) + END;
  assertEquals((await relayed(most)).text, most);
  const { refused } = await relayed(comment(3 * MIB) + comment(MIB + 1) + END);
  assertEquals(refused?.kind, "upstream_response_too_large");
});

Deno.test("buffered records are counted in bytes, not characters", async () => {
  const comment = `:${"世".repeat(MIB / 2 - 1)}\n\n`;
  const three = comment.repeat(3) + END;
  assertEquals((await relayed(three)).refused?.kind, "upstream_response_too_large");
  assertEquals((await relayed(comment.repeat(2) + END)).refused, null);
});

Deno.test("comments after the first event have no limit", async () => {
  const text = sse(delta(0)) + ": ping\n\n".repeat(3000) + END;
  assertEquals((await relayed(text)).text, text);
});

Deno.test("a stream of comments and keep-alives alone is refused at its end", async () => {
  for (const ending of ["clean", "reset"] as const) {
    const { refused } = await relayed(`: ping\n\n${keepalive(0)}`, { ending });
    const kind = ending === "clean" ? "invalid_upstream_response" : "upstream_unreachable";
    assertEquals(refused?.kind, kind);
  }
});
