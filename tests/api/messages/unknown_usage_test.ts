import { assertEquals } from "../../support/assert.ts";
import { answers, COMPLETION } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";

Deno.test("counts that the provider does not send are zero for the client, and absent from the access line", async () => {
  for (const isKnown of [false, true]) {
    const usage = { prompt_tokens: 3, completion_tokens: 40, total_tokens: 43 };
    const body = { ...COMPLETION, ...isKnown && { usage } };
    const world = scriptedWorld({ fetch: () => answers(200, body) });
    const { app, log } = testGateway(oneProvider("http://up.test"), world);
    const response = await app(
      new Request("http://localhost/v1/messages", {
        method: "POST",
        body: '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}',
      }),
    );
    const { input_tokens, output_tokens } = (await response.json()).usage;
    assertEquals([input_tokens, output_tokens], isKnown ? [3, 40] : [0, 0]);
    const line = log.map((text) => JSON.parse(text)).find(({ msg }) => msg === "request");
    assertEquals([line.tokens_in, line.tokens_out], isKnown ? [3, 40] : [undefined, undefined]);
  }
});
