import { assertEquals } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { serveGateway } from "../support/gateway.ts";
import { startUpstream } from "../support/upstream.ts";
import { chatInit, plainConfig } from "./chat_call.ts";

Deno.test("a cached response can be sent repeatedly: each client gets all of its bytes", async () => {
  const content = "word ".repeat(50_000);
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  const text = JSON.stringify({ ...COMPLETION, choices });
  await using upstream = startUpstream(({ answer }) =>
    answer(200, { "content-type": "application/json" }, text)
  );
  const config = `${plainConfig("compat", upstream.url)}caching: {enabled: true}\n`;
  await using gateway = serveGateway(config);
  const statuses: (string | null)[] = [];
  for (let call = 1; call <= 3; call++) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, chatInit());
    statuses.push(response.headers.get("x-gateway-cache-status"));
    assertEquals(await response.text(), text);
  }
  assertEquals(statuses, ["MISS", "HIT", "HIT"]);
  assertEquals(upstream.requests.length, 1);
});
