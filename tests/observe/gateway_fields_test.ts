import { gatewayComment, gatewayFields, NOTHING_KNOWN } from "../../src/observe/gateway_fields.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("the comment of a stream has the values of the headers without blanks, and of lists without spaces", () => {
  const known = {
    ...NOTHING_KNOWN,
    provider: "up",
    model: "my model",
    lossy: ["tools[8]", "a, b"],
    held: "complete" as const,
  };
  assertEquals(gatewayFields(known).map(([, value]) => value), [
    "up",
    "my model",
    "tools[8], a%2C%20b",
    "complete",
  ]);
  assertEquals(gatewayComment(known), {
    event: null,
    data: "",
    raw: ": x-gateway-provider=up x-gateway-model=my%20model x-gateway-lossy=tools[8],a%2C%20b " +
      "x-gateway-held=complete\n\n",
  });
});

Deno.test("the comment has at most 2 kB, whatever the names and paths, and leaves out what has no room", () => {
  const paths = Array.from({ length: 500 }, (_, at) => `messages[${at}].content[0]`);
  for (const [chars, hasLists] of [[64, true], [256, false]] as const) {
    const name = "é".repeat(chars);
    const { raw } = gatewayComment({
      ...NOTHING_KNOWN,
      provider: name,
      model: name,
      route: "r",
      lossy: paths,
      verified: paths,
    });
    assert(raw !== null && raw.length <= 2_050 && raw.startsWith(": x-gateway-route=r "));
    assertEquals(raw.match(/=messages[^ ]*,\.\.\.(?=[ \n])/g)?.length ?? 0, hasLists ? 2 : 0);
  }
});
