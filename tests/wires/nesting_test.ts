import { testGateway } from "../support/gateway.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

function deepBody(member: string, levels: number): string {
  const nested = '{"a":'.repeat(levels) + "1.0" + "}".repeat(levels);
  return `{"model":"m","messages":[{"role":"user","content":"Hi"}],${member.replace("@", nested)}}`;
}

for (const type of ["messages", "local"]) {
  Deno.test(`nesting too deep for a ${type} provider is refused by its field`, async () => {
    const gateway = testGateway(
      `
providers:
  p: {type: ${type}, base_url: "http://up.test", api_key: k}
routing:
  routes: [{name: main, targets: [{provider: p}]}]
`,
      scriptedWorld(),
    );
    const tools = '"tools":[{"type":"function","function":{"name":"f","parameters":@}}]';
    for (const [param, member] of [["x", '"x":@'], ["tools", tools]] as const) {
      const answer = await gateway.app(
        new Request("http://gateway.test/v1/chat/completions", {
          method: "POST",
          body: deepBody(member, 5000),
        }),
      );
      const { error } = await answer.json();
      assertEquals([answer.status, error.code, error.param], [400, "unsupported_feature", param]);
    }
  });
}
