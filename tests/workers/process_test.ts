import {
  inheritedVariables,
  passOn,
  programPath,
  workersObstacle,
} from "../../src/workers/process.ts";
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

Deno.test("a log line above 1 MiB is dropped with its length, and every line next to it is passed on whole", async () => {
  const long = "x".repeat(1024 * 1024 + 1);
  const fits = "y".repeat(1024 * 1024);
  const text = `one\n${long}\ntwo\n${fits}\nthree\nhalf of a li`;
  const bytes = new TextEncoder().encode(text);
  for (const size of [bytes.length, 65_536, 1_000_003]) {
    const pieces = Array.from(
      { length: Math.ceil(bytes.length / size) },
      (_, index) => bytes.slice(index * size, (index + 1) * size),
    );
    const lines: string[] = [];
    await passOn(ReadableStream.from(pieces), {
      line: (line) => void lines.push(line),
      dropped: (chars) => void lines.push(`dropped ${chars}`),
    });
    assertEquals(lines, [
      "one\n",
      `dropped ${long.length}`,
      "two\n",
      `${fits}\n`,
      "three\n",
      "half of a li\n",
    ]);
  }
});
