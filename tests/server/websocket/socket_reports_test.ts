import { isObject, parseJson } from "../../../src/core/json/json.ts";
import { type CapturedCall, newCapture } from "../../../src/remote/capture.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../../support/assert.ts";
import { create } from "../../support/socket_client.ts";
import { oneProvider } from "../../support/gateway.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { heldStream, saying, wordStreams } from "../../support/word_stream.ts";

const CONFIG = oneProvider("http://up.test");
const SHARED = `${CONFIG}
general: {api_key: k, backend_url: "http://127.0.0.1:1"}
data_sharing: {enabled: true, share_prompts: true, share_responses: true}
`;

Deno.test("every turn has an access line and counts as one request", async () => {
  await using served = socketGateway(CONFIG, wordStreams(() => saying("yes")));
  await using client = await served.open();
  assertEquals(await served.sockets(), 1);
  await client.turn(create());
  await client.turn("no JSON");
  await client.turn(create({ generate: false }));
  const lines = served.log.map(parseJson).filter(isObject);
  const seen = lines.map((
    { path, status, route, stream, end },
  ) => [path, status, route, stream, end]);
  assertEquals<unknown>(seen, [
    ["/v1/responses", 101, undefined, false, "complete"],
    ["/v1/responses", 200, "main", true, "complete"],
    ["/v1/responses", 400, undefined, true, "refused"],
    ["/v1/responses", 200, undefined, true, "complete"],
  ]);
  const ids = new Set(lines.map(({ request_id: id }) => id));
  assertEquals(ids.size, 4);
  const metrics = await served.gateway.metrics.scrape();
  assertMatch(metrics, /^gateway_requests_total\{.*route="main",status="200"\} 1$/m);
  assertMatch(metrics, /^gateway_requests_total\{.*status="101"\} 1$/m);
  assertMatch(metrics, /^gateway_active_requests\{endpoint="\/v1\/responses"\} 0$/m);
});

Deno.test("the access lines of a socket, including its handshake's, have the same session", async () => {
  await using served = socketGateway(CONFIG, wordStreams(() => saying("yes")));
  await using unnamed = await served.open();
  await unnamed.turn(create());
  await using named = await served.open({ "x-gateway-sessionid": "mine" });
  await named.turn(create());
  const [handshake, turn, ...others] = served.log.map(parseJson).filter(isObject)
    .map(({ session }) => String(session));
  assertMatch(handshake ?? "", /^wsresp_[0-9a-f-]{36}$/);
  assertEquals([turn, ...others], [handshake, "mine", "mine"]);
});

Deno.test("a turn has the session of the handshake, else of its message, else of its connection", async () => {
  await using served = socketGateway(CONFIG, wordStreams(() => saying("yes")));
  await using codex = await served.open({ "session-id": "thread", "x-client-request-id": "r" });
  await codex.turn(create({ prompt_cache_key: "other" }));
  await using unnamed = await served.open();
  await unnamed.turn(create({ prompt_cache_key: "key" }));
  const { id } = await unnamed.turn(create());
  await unnamed.turn(create({ previous_response_id: id }));
  await served.reported(6);
  const sessions = served.log.map(parseJson).filter(isObject)
    .map(({ session, session_from: from }) => [from, String(session)]);
  const [connection] = sessions.filter(([from]) => from === "connection");
  assertEquals(sessions, [
    ["codex", "thread"],
    ["codex", "thread"],
    connection,
    ["prompt_cache_key", "key"],
    connection,
    connection,
  ]);
});

Deno.test("a turn that runs is an active request; a socket is none", async () => {
  const held = heldStream();
  await using served = socketGateway(CONFIG, wordStreams(held.answer));
  await using client = await served.open();
  const active = async () => {
    const text = await served.gateway.metrics.scrape();
    return /^gateway_active_requests\{endpoint="\/v1\/responses"\} (\d+)$/m.exec(text)?.[1];
  };
  assertEquals(await active(), "0");
  client.send(create());
  held.say("one");
  await client.next();
  assertEquals(await active(), "1");
  held.finish();
  await client.rest();
  await served.reported(2);
  assertEquals(await active(), "0");
});

Deno.test("a client that disconnects with the last event has had the whole response", async () => {
  const held = heldStream();
  await using served = socketGateway(CONFIG, wordStreams(held.answer));
  const client = await served.open();
  client.send(create());
  held.say("one");
  held.finish();
  await client.rest();
  await client.close();
  const { failure, brokeOff } = await served.reported(2);
  assertEquals([failure, brokeOff], [null, false]);
});

/**
 * Returns a gateway with a working provider, and the captures of its calls; the first is that of
 * the handshake.
 */
function capturing(config: string) {
  const captured: CapturedCall[] = [];
  const served = socketGateway(config, {
    ...wordStreams(() => saying("yes")),
    newCapture: ({ id, generation, state }) =>
      newCapture(generation.config, (call) => void captured.push(call), id, state.admission),
  });
  return { served, captured };
}

Deno.test("data sharing has the same content for a turn as for a request over HTTP", async () => {
  const { served, captured } = capturing(SHARED);
  await using _served = served;
  await using client = await served.open({ "x-team": "blue" });
  const { events } = await client.turn({
    type: "response.create",
    stream_id: "s",
    response: { model: "m", input: "question", temperature: 0.5 },
  });
  await served.reported(2);
  const [handshake, turn] = captured;
  assertEquals([handshake?.prompt, handshake?.response], [null, null]);
  assertEquals(handshake?.fields().headers["x-team"], "blue");
  assertEquals<unknown>(parseJson(turn?.prompt ?? ""), {
    model: "m",
    input: "question",
    temperature: 0.5,
    stream: true,
  });
  assert(typeof turn?.response === "string");
  assertEquals(turn.response.split("\n\n").length - 1, events.length);
  assertStringIncludes(turn.response, "event: response.completed\ndata: {");
  assertEquals([turn.fields().headers["x-team"], turn.fields().temperature], ["blue", 0.5]);
});

Deno.test("data sharing has the equivalent HTTP response for a refused turn", async () => {
  const { served, captured } = capturing(SHARED);
  await using _served = served;
  await using client = await served.open();
  await client.turn(create({ input: "" }));
  await served.reported(2);
  const { response = null, prompt = null } = captured[1] ?? {};
  assertStringIncludes(prompt ?? "", '"input":""');
  const text = response instanceof Uint8Array ? new TextDecoder().decode(response) : "";
  assertMatch(text, /^\{"error":\{.*"code":"missing_required_parameter"/);
});

Deno.test("no content of a turn is captured while data sharing is off", async () => {
  const { served, captured } = capturing(CONFIG);
  await using _served = served;
  await using client = await served.open();
  await client.turn(create());
  await served.reported(2);
  assertEquals(captured, []);
});
