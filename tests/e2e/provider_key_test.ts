import { assertEquals } from "../support/assert.ts";
import { answers } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const CONFIG = `
providers:
  first: {type: compat, base_url: "http://first/v1", api_key: key-of-first}
  second: {type: messages, base_url: "http://second", api_key: key-of-second}
routing:
  routes: [{name: main, targets: [{provider: first}], fallback: [{provider: second, model: m}]}]
retry: {enabled: false}
security: {enabled: true, api_key: {keys: [{name: team, value: key-of-client}]}}
`;

Deno.test("a provider's key is sent to that provider alone, also if it redirects and another one takes over", async () => {
  for (const status of [503, 302]) {
    const sent: (readonly [string, readonly string[]])[] = [];
    const fetch = (url: string, { headers = {} }: RequestInit) => {
      const text = `${url} ${JSON.stringify([...new Headers(headers)])}`;
      sent.push([new URL(url).host, text.match(/key-of-\w+/g) ?? []]);
      return answers(status, "", { location: "http://second/v1/chat/completions" });
    };
    const { app } = testGateway(CONFIG, scriptedWorld({ fetch }));
    const messages = [{ role: "user", content: "hello" }];
    const response = await app(
      new Request("http://gateway/v1/chat/completions", {
        method: "POST",
        headers: { authorization: "Bearer key-of-client" },
        body: JSON.stringify({ model: "m", messages }),
      }),
    );
    await response.text();
    assertEquals(sent, [["first", ["key-of-first"]], ["second", ["key-of-second"]]], `${status}`);
  }
});
