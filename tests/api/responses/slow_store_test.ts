import { assertEquals } from "../../support/assert.ts";
import { create } from "../../support/socket_client.ts";
import { holdWrites } from "../../support/object_store.ts";
import { EVERY_TYPE, simulated } from "../../support/simulated.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { stateful } from "./stateful.ts";

/** Lets everything go on that waits for nothing outside. */
async function turnsOfTheLoop(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
}

for (const stream of [false, true]) {
  const how = stream ? "streamed response" : "whole response";

  Deno.test(`a ${how} completes only after it is stored, and shutdown waits for both`, async () => {
    const calls = stateful();
    const writes = holdWrites(calls.state);
    let isAnswered = false;
    const answering = calls.post("/responses", { model: "m", input: "x", stream })
      .then((answer) => {
        isAnswered = true;
        return answer;
      });
    await writes.begun;
    await turnsOfTheLoop();
    assertEquals([isAnswered, calls.state.inFlight.count], [false, 1]);
    writes.release();
    assertEquals((await answering).status, 200);
    await calls.state.inFlight.idle();
  });

  Deno.test(`a ${how} is stored even if its client disconnects meanwhile`, async () => {
    await using served = socketGateway(EVERY_TYPE, simulated());
    const writes = holdWrites(served.gateway.state);
    const client = new AbortController();
    const asking = fetch(`${served.url}/v1/responses`, {
      method: "POST",
      body: JSON.stringify({ model: "compat/sim-echo", input: "x", stream }),
      signal: client.signal,
    }).then((answer) => answer.text()).catch(() => "aborted");
    await writes.begun;
    client.abort();
    assertEquals(await asking, "aborted");
    writes.release();
    await served.gateway.state.inFlight.idle();
    assertEquals(served.gateway.state.objects.stats().responses.entries, 1);
  });
}

Deno.test("a turn on a socket begins after the previous turn is stored, and continues it", async () => {
  const upstream = simulated();
  await using served = socketGateway(EVERY_TYPE, upstream);
  await using client = await served.open();
  const writes = holdWrites(served.gateway.state);
  const model = "compat/sim-echo";
  const turn = create({ model });
  client.send(turn);
  client.send(turn);
  await writes.begun;
  await turnsOfTheLoop();
  assertEquals(upstream.sent.length, 1);
  writes.release();
  assertEquals((await client.rest()).ending, "response.completed");
  const last = await client.rest();
  assertEquals([last.ending, upstream.sent.length], ["response.completed", 2]);
  const next = await client.turn(create({ model, previous_response_id: last.id }));
  assertEquals(next.ending, "response.completed");
});
