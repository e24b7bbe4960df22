import type { WireName } from "../src/wires/wire.ts";
import { privacyConfig } from "./privacy/rules.ts";
import { assertEquals } from "./support/assert.ts";
import { testGateway } from "./support/gateway.ts";
import { type GoldenCase, goldenCases } from "./support/golden.ts";
import { assertSent, goldenConfig, type GoldenSent, goldenWorld } from "./support/golden_world.ts";

const APIS = ["chat", "responses", "messages"],
  WIRES = ["compat", "messages", "local", "responses"];

const RULES = privacyConfig([
  "find: [email], action: replace",
  "find: [us_ssn], phase: response, action: mask",
]);

const cases = goldenCases(new URL("golden/privacy", import.meta.url).pathname);

function wireOf({ name }: GoldenCase): WireName {
  const [folder = ""] = name.split("/");
  return WIRES.find((wire) => folder.endsWith(`over_${wire}`)) as WireName ?? "responses";
}

Deno.test("each client API over each protocol has golden cases of restored values, whole and streamed", () => {
  const folders = APIS.flatMap((api) =>
    WIRES.map((wire) =>
      api === "responses" && wire === "responses" ? "responses_native" : `${api}_over_${wire}`
    )
  );
  const wanted = folders.flatMap((folder) => [`${folder}/stream`, `${folder}/whole`]).toSorted();
  assertEquals(cases.map(({ name }) => name), wanted);
});

for (const one of cases) {
  Deno.test(`the values of ${one.name} are restored, read in pieces and at once`, async () => {
    const { clientRequest: { method, path, headers, body }, upstreamAnswer, clientAnswer } = one;
    const isWhole = upstreamAnswer.headers["content-type"] === "application/json";
    for (const size of [...isWhole ? [] : [1], 7, Math.max(1, upstreamAnswer.body.length * 3)]) {
      const seen: GoldenSent[] = [];
      const world = goldenWorld(upstreamAnswer, upstreamAnswer.body, size, seen);
      const gateway = testGateway(goldenConfig(wireOf(one)) + RULES, world);
      const answer = await gateway.app(
        new Request(`http://gateway.test${path}`, { method, headers, body }),
      );
      assertEquals(await answer.text(), clientAnswer.body, `in pieces of ${size}`);
      assertSent(one, seen);
      assertEquals(answer.status, clientAnswer.status);
    }
  });
}
