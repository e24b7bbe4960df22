import { releaseFreeMemory } from "../../src/runtime/free_memory.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("memory that is free in the C library is given back where it has a function for it, and nothing is thrown elsewhere", () => {
  assertEquals(releaseFreeMemory(), Deno.build.os === "linux" && Deno.build.env === "gnu");
});

Deno.test("without the permission for foreign functions no memory is given back", {
  permissions: { ffi: false, read: true },
}, () => {
  assert(!releaseFreeMemory());
});
