import { inheritedVariables, programPath, workersObstacle } from "../../src/workers/process.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";

const ABLE = { os: "linux", mayRun: true, hasWholePermissions: true };

Deno.test("several workers are refused on a system that does not distribute connections, with the reason", () => {
  for (const os of ["darwin", "windows"]) {
    assertStringIncludes(workersObstacle({ ...ABLE, os }) ?? "", "needs Linux");
  }
  assertEquals(workersObstacle(ABLE), null);
});

Deno.test("several workers are refused without a permission, which is named", () => {
  assertStringIncludes(
    workersObstacle({ ...ABLE, mayRun: false }) ?? "",
    "--allow-run=/proc/self/exe",
  );
  assertStringIncludes(
    workersObstacle({ ...ABLE, hasWholePermissions: false }) ?? "",
    "--allow-net",
  );
});

Deno.test("a worker gets the environment without the variables of the dynamic linker", () => {
  const environment = { KEY: "k", LD_PRELOAD: "/x.so", DYLD_LIBRARY_PATH: "/y", OLD_LD: "z" };
  assertEquals(inheritedVariables(environment), { KEY: "k", OLD_LD: "z" });
});

Deno.test("workers run the program from a folder whose name has reserved characters of a URL", () => {
  assertEquals(programPath("file:///a%23b%3F/c%20d%2C/main.ts"), "/a#b?/c d,/main.ts");
});
