import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { archivePath, type Files, type Machine, machine, release } from "./releases.ts";

const UNPRIVILEGED_USER_CODE = 65_534;

/** Runs the installer where something is wrong: one sentence, and nothing has changed. */
async function refused(
  files: Files,
  expected: RegExp,
  options: Parameters<Machine["install"]>[1] & {
    readonly args?: readonly string[];
    prepare?(at: Machine): Promise<unknown>;
  } = {},
): Promise<void> {
  await using at = await machine(files);
  await options.prepare?.(at);
  const before = await at.state();
  const { code, out, err } = await at.install(options.args, options);
  assertEquals([code, out], [1, ""]);
  assertMatch(err, /^install\.sh: [^\n]+\.\n$/);
  assertMatch(err, expected);
  assertEquals(await at.state(), before);
}

/** The same twice: on a fresh machine, and on one where an older release runs. */
async function refusedAnywhere(files: Files, expected: RegExp): Promise<void> {
  await refused(files, expected);
  const older = await release("1.0.0");
  await refused({ ...older, ...files }, expected, {
    async prepare(at) {
      const { code } = await at.install(["--version", "1.0.0"]);
      assertEquals(code, 0);
    },
  });
}

Deno.test("an archive with another checksum is not installed", async () => {
  const files = await release("1.2.3");
  const { [archivePath("1.2.3")]: other = "" } = await release("1.2.3", "9.9.9");
  await refusedAnywhere({ ...files, [archivePath("1.2.3")]: other }, /not what its checksum says/);
});

Deno.test("an archive without a checksum is not installed", async () => {
  const files = {
    ...await release("1.2.3"),
    "/v1.2.3/SHA256SUMS": `${"0".repeat(64)}  x.tar.gz\n`,
  };
  await refusedAnywhere(files, /Release 1\.2\.3 has no switchyard-1\.2\.3-/);
});

Deno.test("a download that is cut off is not installed", async () => {
  const files = await release("1.2.3");
  await refusedAnywhere({
    ...files,
    [archivePath("1.2.3")]: ({ answer }) =>
      answer(200, { "content-length": "99999" }, "half of it"),
  }, /could not be downloaded whole/);
});

Deno.test("an archive that does not unpack is not installed", async () => {
  const files = await release("1.2.3");
  const bytes = new TextEncoder().encode("no archive");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  const name = archivePath("1.2.3").split("/").at(-1);
  await refusedAnywhere({
    ...files,
    [archivePath("1.2.3")]: "no archive",
    "/v1.2.3/SHA256SUMS": `${digest}  ${name}\n`,
  }, /could not be unpacked/);
});

Deno.test("a program that does not run here is not installed", async () => {
  await refusedAnywhere(await release("1.2.3", "something else"), /does not run on this machine/);
});

Deno.test("files of a program that does not start are removed with it", async () => {
  const leaving = '#!/bin/sh\nmkdir "$TMPDIR/left"\nexit 1\n';
  await refusedAnywhere(await release("1.2.3", "", leaving), /does not run on this machine/);
});

Deno.test("without a place for temporary files nothing is begun", async () => {
  await refused(await release("1.2.3"), /no place for temporary files/, {
    env: { TMPDIR: "/nowhere" },
  });
});

Deno.test("a version that does not exist is reported", async () => {
  await refused(await release("1.2.3"), /There is no release 7\.7\.7 at http/, {
    args: ["--version", "7.7.7"],
  });
  await refused({}, /The newest version could not be read/);
});

Deno.test("what is no version never becomes part of an address", async () => {
  for (const version of ["../x", "1.0/2", "1 2", "$(id)", "-o", "v"]) {
    await refused(await release("1.2.3"), /is not a version/, { args: ["--version", version] });
  }
  await refused({ "/latest": "<html>\n" }, /is not a version/);
});

Deno.test("only https and loopback are addresses of releases", async () => {
  const wrong = [
    "http://example.com",
    "http://127.0.0.1.example.com",
    "http://localhost@example.com",
    "ftp://127.0.0.1",
    "file:///tmp",
    "https://",
  ];
  for (const url of wrong) {
    await refused({}, /SWITCHYARD_BASE_URL/, { env: { SWITCHYARD_BASE_URL: url } });
  }
  await refused({}, /Set SWITCHYARD_BASE_URL/, { env: { SWITCHYARD_BASE_URL: "" } });
});

const MACHINES = [
  ["FreeBSD", "amd64", /no switchyard for FreeBSD/],
  ["Linux", "riscv64", /no switchyard for the architecture riscv64/],
  ["Linux", "armv7l", /no switchyard for the architecture armv7l/],
] as const;

for (const [system, architecture, expected] of MACHINES) {
  Deno.test(`${system} on ${architecture} is refused before anything is downloaded`, async () => {
    await using at = await machine(await release("1.2.3"));
    await at.fake("uname", `[ "$1" = -s ] && echo ${system} || echo ${architecture}`);
    const { code, err } = await at.install();
    assertEquals(code, 1);
    assertMatch(err, expected);
    assertEquals([at.asked.length, Object.keys(await at.state()).length], [0, 0]);
  });
}

Deno.test("a system with musl is refused", async () => {
  await refused(await release("1.2.3"), /needs glibc/, {
    async prepare(at) {
      await at.fake("uname", '[ "$1" = -s ] && echo Linux || echo x86_64');
      await at.fake("ldd", 'echo "musl libc (x86_64)" >&2; exit 1');
    },
  });
});

Deno.test("an arm64 Mac gets its own program, also from a translated shell", async () => {
  await using at = await machine({ "/latest": "1.2.3", "/v1.2.3/SHA256SUMS": "" });
  await at.fake("uname", '[ "$1" = -s ] && echo Darwin || echo x86_64');
  await at.fake("sysctl", "echo 1");
  assertMatch((await at.install()).err, /no switchyard-1\.2\.3-darwin-arm64\.tar\.gz/);
});

Deno.test("a folder without write permission is reported before anything is downloaded", async () => {
  await using at = await machine(await release("1.2.3"));
  await Deno.chmod(at.home, 0o555);
  // To root no folder is forbidden.
  const isRoot = Deno.uid() === 0;
  const { code, err } = await at.install([], isRoot ? { uid: UNPRIVILEGED_USER_CODE } : {});
  await Deno.chmod(at.home, 0o755);
  assertEquals(code, 1);
  assertMatch(err, /^install\.sh: There is no permission to write to [^\n]+\.\n$/);
  assert(at.asked.length === 0 && Object.keys(await at.state()).length === 0);

  await Deno.writeTextFile(`${at.home}/file`, "");
  assertMatch((await at.install(["--prefix", `${at.home}/file`])).err, /is not a folder/);
});

Deno.test("without a home directory the installer requires a target directory", async () => {
  await refused(await release("1.2.3"), /HOME is not set/, { env: { HOME: "" } });
});
