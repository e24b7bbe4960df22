import { isHeapFull } from "../../src/runtime/heap.ts";
import { assert, assertEquals } from "../support/assert.ts";

const HEAP = new URL("../../src/runtime/heap.ts", import.meta.url).href;

/** Fills a heap of 256 MB in steps of 1 MB until it is said to be full, or is as large. */
const FILLING = `
import { isHeapFull } from ${JSON.stringify(HEAP)};
const kept = [];
while (!isHeapFull() && kept.length < 256) kept.push(Array(1024 * 1024 / 8).fill({}));
console.log(kept.length);
`;

Deno.test("the heap is nearly full before V8 ends the process", async () => {
  assert(!isHeapFull());
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--v8-flags=--max-old-space-size=256", FILLING],
    stderr: "null",
  }).output();
  const filled = Number(new TextDecoder().decode(stdout));
  assertEquals([success, filled > 128 && filled < 256], [true, true], String(filled));
});
