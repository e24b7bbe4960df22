import { assert, assertEquals } from "../../../support/assert.ts";
import {
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  responseOf,
  streamOf,
} from "../../../support/native_gateway.ts";
import { objectsAt, refusalOf } from "../../../support/state_call.ts";
import { lifecycle, sse } from "./native_stream.ts";

const CAN = ["background_responses", "responses_lifecycle", "response_cancellation"];
const BACKGROUND = { model: "m", input: "x", background: true };

/** A gateway whose upstream answers a create with this stream, and everything else with resp_1. */
function gateway(stream: string, can = CAN): NativeGateway {
  return nativeGateway(nativeConfig({ up: { can } }), ({ method, path }) => ({
    body: method === "POST" && path === "/responses" ? stream : responseOf("resp_1"),
  }));
}

Deno.test("the owner of a background response is stored while it is queued", async () => {
  const queued = responseOf("resp_1", { status: "queued", background: true, output: [] });
  const calls = gateway(JSON.stringify(queued));
  const created = await calls.post("/responses", BACKGROUND);
  assertEquals(created.json.status, "queued");
  await calls.post("/responses/resp_1/cancel");
  assertEquals(calls.lastRequest(), "up POST /responses/resp_1/cancel");
});

Deno.test("the owner of a background response stays stored after its stream breaks", async () => {
  for (const type of ["response.created", "response.queued", "response.in_progress"]) {
    const calls = gateway(sse(lifecycle(type, 0, { background: true })));
    const { text } = await calls.post("/responses", { ...BACKGROUND, stream: true });
    assert(text.includes("event: response.failed"), text);
    assertEquals(calls.state.objects.stats().response_bindings.entries, 1);
    await calls.get("/responses/resp_1?stream=true&starting_after=0");
    assertEquals(calls.lastRequest(), "up GET /responses/resp_1?stream=true&starting_after=0");
  }
});

Deno.test("the owner of a background stream is stored when its ID is known, not earlier", async () => {
  const calls = gateway("data: {\n\n");
  await calls.post("/responses", { ...BACKGROUND, stream: true });
  assertEquals(calls.state.objects.stats().response_bindings.entries, 0);
  const unnamed = gateway(sse({ type: "response.output_text.delta", sequence_number: 0 }));
  const { text } = await unnamed.post("/responses", { ...BACKGROUND, stream: true });
  assert(text.includes("event: response.failed"), text);
  assertEquals(unnamed.state.objects.stats().response_bindings.entries, 0);
});

Deno.test("the owner of an unstored background stream is not stored", async () => {
  for (const stream of [streamOf("resp_1"), sse(lifecycle("response.created", 0))]) {
    const calls = gateway(stream);
    await calls.post("/responses", { ...BACKGROUND, stream: true, store: false });
    assertEquals(calls.state.objects.stats().response_bindings.entries, 0);
    const refused = await calls.post("/responses/resp_1/cancel");
    assertEquals(refusalOf(refused), [404, "response_not_found", "response_id"]);
  }
});

Deno.test("a completed background stream without a lifecycle upstream is stored in the gateway", async () => {
  const calls = gateway(streamOf("resp_1"), ["background_responses"]);
  await calls.post("/responses", { ...BACKGROUND, stream: true });
  assertEquals((await calls.get("/responses/resp_1")).json, responseOf("resp_1"));
  const body = { model: "m", input: "two", previous_response_id: "resp_1", stream: true };
  assertEquals((await calls.post("/responses", body)).status, 200);
  assertEquals(calls.requests[1]?.json, body);
});

Deno.test("an unstreamed background request in a local conversation is refused", async () => {
  const calls = gateway(streamOf("resp_1"));
  const { json: { id } } = await calls.post("/conversations");
  const body = { ...BACKGROUND, conversation: { id } };
  const refused = await calls.post("/responses", body);
  assertEquals(refusalOf(refused), [400, "unsupported_feature", "background"]);
  assertEquals(calls.requests.length, 0);
  assertEquals((await calls.post("/responses", { ...body, stream: true })).status, 200);
  const { json } = await calls.get(`/conversations/${id}/items`);
  assertEquals(objectsAt(json, "data").length, 2);
});
