import { assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { type Files, type Machine, machine, release } from "./releases.ts";

const INSTALLER = new URL("../../install.sh", import.meta.url);

/** Two keys of the form that minisign gives them. */
const KEY = `RW${"A".repeat(53)}=`, OTHER = `RW${"b".repeat(54)}`;

/** A stand-in for minisign: a signature is the key and the digest of what it signs. */
const MINISIGN = `
[ "$1 $2 $3 $5 $7" = "-V -q -P -m -x" ] && [ $# = 8 ] || exit 2
digest=$(sha256sum <"$6" | cut -d" " -f1)
[ "$(cat "$8")" = "$4 $digest" ]`;

/** Tools of the system that the installer runs. */
const TOOLS = [
  ...["sh", "uname", "ldd", "dirname", "mktemp", "curl", "awk", "sha256sum", "cut", "tar"],
  ...["gzip", "chmod", "mv", "rm", "rmdir", "mkdir", "head", "cat"],
];

/** Returns a release that this key has signed. */
async function signed(version: string, key: string): Promise<Files> {
  const files = await release(version);
  const sums = new TextEncoder().encode(`${files[`/v${version}/SHA256SUMS`]}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", sums)).toHex();
  return { ...files, [`/v${version}/SHA256SUMS.minisig`]: `${key} ${digest}\n` };
}

/** Makes the installer of a release with this key. Returns its path. */
async function installerWith(at: Machine, key: string): Promise<string> {
  const text = await Deno.readTextFile(INSTALLER);
  const path = `${at.fakes}/install.sh`;
  const filled = text.replace(/^default_public_key=''$/m, `default_public_key='${key}'`);
  assertStringIncludes(filled, key);
  await Deno.writeTextFile(path, filled);
  return path;
}

/** Hides minisign from the machine. Returns the variables that hide the real one. */
async function withoutMinisign(at: Machine): Promise<Record<string, string>> {
  for (const tool of TOOLS) {
    const { stdout } = await new Deno.Command("sh", { args: ["-c", `command -v ${tool}`] })
      .output();
    await at.fake(tool, `exec ${new TextDecoder().decode(stdout).trim()} "$@"`);
  }
  return { PATH: at.fakes };
}

Deno.test("a release is verified by its signature where the key is known and minisign is there", async () => {
  await using at = await machine(await signed("1.2.3", KEY));
  await at.fake("minisign", MINISIGN);
  const own = await at.install([], { script: await installerWith(at, KEY) });
  const named = await at.install([], { env: { SWITCHYARD_PUBLIC_KEY: KEY } });
  for (const { code, out, err } of [own, named]) {
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, "The release was verified by its signature.\n");
  }
  assertEquals(at.asked.slice(0, 3), [
    "/latest",
    "/v1.2.3/SHA256SUMS",
    "/v1.2.3/SHA256SUMS.minisig",
  ]);
});

Deno.test("the key that the user names wins over that of the installer", async () => {
  await using at = await machine(await signed("1.2.3", OTHER));
  await at.fake("minisign", MINISIGN);
  const script = await installerWith(at, KEY);
  assertEquals((await at.install([], { script })).code, 1);
  const env = { SWITCHYARD_PUBLIC_KEY: OTHER };
  assertEquals((await at.install([], { script, env })).code, 0);
});

Deno.test("a release whose signature is missing or not good is not installed", async () => {
  const { "/v1.2.3/SHA256SUMS.minisig": old = "", ...unsigned } = await signed("1.2.3", KEY);
  const changed = { ...unsigned, "/v1.2.3/SHA256SUMS": `${unsigned["/v1.2.3/SHA256SUMS"]}\n` };
  const cases: readonly (readonly [Files, RegExp])[] = [
    [unsigned, /Release 1\.2\.3 has no signature; nothing was installed/],
    [await signed("1.2.3", OTHER), /The signature of release 1\.2\.3 is not good; nothing/],
    [{ ...changed, "/v1.2.3/SHA256SUMS.minisig": old }, /is not good; nothing was installed/],
  ];
  for (const [files, reason] of cases) {
    await using at = await machine(files);
    await at.fake("minisign", MINISIGN);
    const { code, out, err } = await at.install([], { env: { SWITCHYARD_PUBLIC_KEY: KEY } });
    assertEquals([code, out], [1, ""]);
    assertMatch(err, /^install\.sh: [^\n]+\.\n$/);
    assertMatch(err, reason);
    assertEquals(await at.state(), {});
  }
});

Deno.test("without minisign the installer says that it verified no signature", async () => {
  await using at = await machine(await signed("1.2.3", KEY));
  const env = await withoutMinisign(at);
  const { code, out } = await at.install([], { env, script: await installerWith(at, KEY) });
  assertEquals(code, 0);
  assertStringIncludes(out, "was not verified by its signature: minisign is not installed.\n");
  assertEquals(at.asked.some((path) => path.endsWith(".minisig")), false);
});

Deno.test("a key that the user names and no minisign to use it end the installation", async () => {
  await using at = await machine(await signed("1.2.3", KEY));
  const env = { ...await withoutMinisign(at), SWITCHYARD_PUBLIC_KEY: KEY };
  const { code, err } = await at.install([], { env });
  assertEquals(code, 1);
  assertMatch(err, /SWITCHYARD_PUBLIC_KEY is set, and minisign is not installed/);
  assertEquals([at.asked.length, await at.state()], [0, {}]);
});

Deno.test("without a key the installer says that it verified no signature", async () => {
  await using at = await machine(await release("1.2.3"));
  const { code, out } = await at.install();
  assertEquals(code, 0);
  assertStringIncludes(out, "was not verified by a signature: no public key is known.\n");
});

Deno.test("what is no minisign key is refused before anything is downloaded", async () => {
  for (const key of ["RW", KEY.slice(1), `${KEY}A`, `RW${"A".repeat(53)}|`, "-", "RW\n"]) {
    await using at = await machine(await release("1.2.3"));
    const { code, err } = await at.install([], { env: { SWITCHYARD_PUBLIC_KEY: key } });
    assertEquals(code, 1);
    assertMatch(err, /The public key is no minisign key/);
    assertEquals(at.asked.length, 0);
  }
});
