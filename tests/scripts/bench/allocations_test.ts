import {
  allocationLines,
  type AllocationNode,
  allocationsOf,
} from "../../../scripts/bench/allocations.ts";
import { assertEquals } from "../../support/assert.ts";

const SOURCES = new URL("../../../src/", import.meta.url).href;

function node(
  functionName: string,
  url: string,
  selfSize: number,
  children: readonly AllocationNode[] = [],
): AllocationNode {
  return { callFrame: { functionName, url }, selfSize, children };
}

const HEAD = node("(root)", "", 0, [
  node("serve", "ext:deno_http/00_serve.ts", 100, [
    node("handle", `${SOURCES}server/app.ts`, 300, [
      node("parse", "", 200),
      node("", `${SOURCES}attempts/attempt.ts`, 250, [
        node("handle", `${SOURCES}server/app.ts`, 150),
      ]),
    ]),
  ]),
]);

Deno.test("the row allocations gives the bytes of a call to the functions of the gateway, with what others allocate for them", () => {
  assertEquals(allocationsOf("small", HEAD, 10), {
    row: "small",
    bytesPerCall: 100,
    sites: [
      ["src/server/app.ts handle", 65],
      ["src/attempts/attempt.ts (anonymous)", 25],
      ["the runtime alone", 10],
    ],
  });
});

Deno.test("the row allocations prints the largest sites as a table", () => {
  const few = allocationsOf("small", HEAD, 10);
  assertEquals(allocationLines(few).split("\n"), [
    "| `small` | all | 100 | 100 % |",
    "| `small` | `handle` in `src/server/app.ts` | 65 | 65 % |",
    "| `small` | `(anonymous)` in `src/attempts/attempt.ts` | 25 | 25 % |",
    "| `small` | the runtime alone | 10 | 10 % |",
  ]);
  const sites = Array.from({ length: 30 }, (_, at) => [`src/${at}.ts one`, 1] as const);
  assertEquals(allocationLines({ ...few, sites }).split("\n").length, 16);
});
