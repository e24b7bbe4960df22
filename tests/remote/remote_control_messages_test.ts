import fc from "fast-check";
import type { JsonValue } from "../../src/core/json/json.ts";
import { parseMessage } from "../../src/remote/remote_messages.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { command, executed, nextOf, startRemote } from "../support/remote.ts";

const IGNORED = "remote control message ignored";
const MARK = "marked-content";

/** Messages that have no ID to respond to. */
const IGNORED_MESSAGES: readonly JsonValue[] = [
  "",
  MARK,
  `{"${MARK}":`,
  "null",
  "7",
  `["${MARK}"]`,
  '{"\\\\":1}',
  {},
  { type: MARK },
  { type: ["sandbox.execute"] },
  { ...command(MARK), command_id: 7 },
  { ...command(MARK), command_id: "" },
  { ...command(MARK), command_id: MARK.repeat(100) },
  { type: "config.update", config: { [MARK]: true } },
];

const DEEP = JSON.parse("[".repeat(600) + "]".repeat(600));

/** These are answered: they say whose command they are. */
const ANSWERED: readonly { readonly [member: string]: JsonValue }[] = [
  { type: "config.update" },
  { type: "__proto__" },
  { request_type: "models" },
  { request_type: "__proto__" },
  { request_type: ["chat_completions"] },
  { request_type: null },
  { target: null },
  { target: "route" },
  { target: { mode: "provider", value: "up" } },
  { target: { mode: "route" } },
  { target: { mode: "route", value: "" } },
  { target: { mode: "route", value: " " } },
  { target: { mode: "route", value: " main" } },
  { target: { mode: "route", value: "main\r\nx-gateway-provider: up" } },
  { target: { mode: "route", value: ["main"] } },
  { target: { mode: "model", value: 7 } },
  { request: null },
  { request: "{}" },
  { request: [] },
  { request: { input: DEEP } },
];

function unserved(): Promise<Response> {
  return Promise.reject(new Error("this must not be run"));
}

Deno.test("a message that is no command is ignored, and the log line has none of its text", async () => {
  await using remote = startRemote({ handle: unserved });
  const socket = await remote.socket();
  for (const message of IGNORED_MESSAGES) socket.send(message);
  await remote.logged(IGNORED, IGNORED_MESSAGES.length);
  socket.send({ type: "unknown", command_id: "still there" });
  const next = await nextOf(socket, "sandbox.response");
  assertEquals(next.command_id, "still there");
  assertEquals(remote.log.filter((line) => line.includes(IGNORED)).length, IGNORED_MESSAGES.length);
  assert(!remote.log.join("").includes(MARK), remote.log.join(""));
});

Deno.test("a command that cannot be run gets a response with the reason", async () => {
  await using remote = startRemote({ handle: unserved });
  const socket = await remote.socket();
  for (const members of ANSWERED) {
    const response = await executed(socket, members);
    assertEquals([response.ok, response.status_code, response.body], [false, 400, null]);
    assert(typeof response.error === "string" && response.error !== "");
  }
  assert(!remote.log.join("").includes(IGNORED));
});

Deno.test("a message above the size limit is ignored, and the connection stays open", async () => {
  await using remote = startRemote({ handle: () => Promise.resolve(new Response("{}")) });
  const socket = await remote.socket();
  socket.send(command("large", { request: { input: "x".repeat(11 * 1024 * 1024) } }));
  await remote.logged("larger than 10 MiB");
  assertEquals((await executed(socket)).ok, true);
});

Deno.test("a request of more than 10 MiB within the message limit is refused by the gateway", async () => {
  await using remote = startRemote();
  const socket = await remote.socket();
  const request = { model: "m", input: "x".repeat(10 * 1024 * 1024) };
  const { ok, status_code } = await executed(socket, { request_type: "responses", request });
  assertEquals([ok, status_code], [false, 413]);
});

Deno.test("a binary frame is ignored with a line", async () => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onopen = () => socket.send(new TextEncoder().encode(JSON.stringify(command("bytes"))));
    return response;
  });
  await using remote = startRemote({
    backendUrl: `http://127.0.0.1:${server.addr.port}`,
    handle: unserved,
  });
  await remote.logged("The message is binary.");
  await remote.close();
  await server.shutdown();
});

Deno.test("no message crashes the channel, and none becomes a command by chance", () => {
  const strange = fc.oneof(fc.string(), fc.json(), fc.json().map((text) => text.slice(1)));
  fc.assert(fc.property(strange, (text) => parseMessage(text).type === "wrong"));
  const commands = fc.record({
    type: fc.constant("sandbox.execute"),
    command_id: fc.constant("c-1"),
    target: fc.oneof(fc.jsonValue(), fc.record({ mode: fc.jsonValue(), value: fc.jsonValue() })),
    request_type: fc.oneof(fc.jsonValue(), fc.constant("responses")),
    request: fc.jsonValue(),
  });
  fc.assert(fc.property(commands, (message) => {
    const read = parseMessage(JSON.stringify(message));
    return read.type === "wrong" && read.commandId === "c-1";
  }));
});
