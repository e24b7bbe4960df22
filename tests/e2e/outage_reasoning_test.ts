import {
  called,
  chatBody,
  thinkingConfig,
  thinkingGateway,
  type Thought,
  USER,
} from "../api/reasoning/thinking_gateway.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { withOutage } from "../support/outage.ts";

const HM: Thought = { text: " Hm\n", seal: "sealed" };

for (const stream of [false, true]) {
  Deno.test(`reasoning that cannot be stored or found is counted once, and the call continues (stream ${stream})`, async () => {
    const { calls, outage } = await withOutage((options) =>
      thinkingGateway(thinkingConfig("responses"), "responses", [HM], [], options)
    );
    await outage.leave();
    const first = await calls.post("/chat/completions", chatBody([USER], { stream }));
    assertEquals([first.status, first.text.includes("call_1")], [200, true]);
    const history = [USER, ...called({ reasoning_content: HM.text })];
    const second = await calls.post("/chat/completions", chatBody(history, { stream }));
    assertEquals([second.status, calls.requests.length], [200, 2]);
    assertEquals(outage.raw.operations, ["reasoning_store", "reasoning_find"]);
    assertEquals([outage.failures, outage.store.availability.pendingWrites()], [[], 0]);
    const metrics = await calls.scrape();
    for (const operation of outage.raw.operations) {
      assertMatch(
        metrics,
        new RegExp(`^gateway_state_failures_total\\{operation="${operation}"\\} 1$`, "m"),
      );
    }
    await outage.store.close();
  });
}
