import { assertEquals, assertMatch } from "../../support/assert.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** A stand-in for minisign: a signature is the secret and the digest of what it signs. */
const MINISIGN = `#!/bin/sh
digest() { sha256sum <"$1" | cut -d" " -f1; }
case $1 in
  -S) echo "$* " >>"$(dirname "$0")/calls"; echo "$(cat "$3") $(digest "$5")" >"$7" ;;
  -R) printf 'untrusted comment: a key\\n%s\\n' "$(cat "$3")" >"$5" ;;
  -V) [ "$(cat "$8")" = "$(tail -n 1 "$4") $(digest "$6")" ] ;;
esac
`;

/** A folder with a file to sign, a key and a stand-in for minisign. */
async function place() {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/minisign`, MINISIGN, { mode: 0o755 });
  await Deno.writeTextFile(`${folder}/key`, "secret");
  await Deno.writeTextFile(`${folder}/SHA256SUMS`, "digests");
  return {
    folder,
    file: `${folder}/SHA256SUMS`,
    async sign(args: readonly string[], env: Record<string, string>) {
      const { code, stderr } = await new Deno.Command(`${ROOT}scripts/packaging/sign.sh`, {
        args: [...args],
        clearEnv: true,
        env: { PATH: `${folder}:${Deno.env.get("PATH")}`, ...env },
      }).output();
      return { code, err: new TextDecoder().decode(stderr) };
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

Deno.test("a file is signed with the key that is named, and its public key is written", async () => {
  await using at = await place();
  const env = { SWITCHYARD_SIGNING_KEY: `${at.folder}/key` };
  assertEquals(await at.sign(["ready"], env), { code: 0, err: "" });
  const args = [at.file, "switchyard 1.2.3", `${at.folder}/public`];
  assertEquals(await at.sign(args, env), { code: 0, err: "" });
  assertMatch(await Deno.readTextFile(`${at.file}.minisig`), /^secret [0-9a-f]{64}\n$/);
  assertMatch(await Deno.readTextFile(`${at.folder}/public`), /\nsecret\n$/);
  // The comment is part of what is signed, and holds no time: the same release has the same
  // signature.
  assertMatch(await Deno.readTextFile(`${at.folder}/calls`), /-t switchyard 1\.2\.3 -c /);
});

Deno.test("without a signing key there is no release, unless an unsigned release is requested", async () => {
  await using at = await place();
  for (const env of [{}, { SWITCHYARD_UNSIGNED: "0" }, { SWITCHYARD_SIGNING_KEY: "" }]) {
    const { code, err } = await at.sign(["ready"], env);
    assertEquals(code, 1);
    assertMatch(err, /^sign\.sh: Set SWITCHYARD_SIGNING_KEY .*SWITCHYARD_UNSIGNED=1[^\n]*\.\n$/);
  }
  const unsigned = { SWITCHYARD_UNSIGNED: "1" };
  assertEquals(await at.sign(["ready"], unsigned), { code: 0, err: "" });
  const args = [at.file, "comment", `${at.folder}/public`];
  assertEquals(await at.sign(args, unsigned), { code: 0, err: "" });
  const names = [...Deno.readDirSync(at.folder)].map(({ name }) => name).toSorted();
  assertEquals(names, ["SHA256SUMS", "key", "minisign"]);
});

Deno.test("a key that cannot be used is refused before anything is built", async () => {
  await using at = await place();
  const key = `${at.folder}/key`;
  const wrong = [
    [{ SWITCHYARD_SIGNING_KEY: `${at.folder}/none` }, /names no file that can be read/],
    [{ SWITCHYARD_SIGNING_KEY: at.folder }, /names no file that can be read/],
    [{ SWITCHYARD_SIGNING_KEY: `${ROOT}deno.json` }, /must be kept outside the repository/],
    [{ SWITCHYARD_SIGNING_KEY: `${ROOT}scripts/deno` }, /must be kept outside the repository/],
    [{ SWITCHYARD_SIGNING_KEY: key, SWITCHYARD_UNSIGNED: "1" }, /exclude each other/],
  ] as const;
  for (const [env, reason] of wrong) {
    const { code, err } = await at.sign(["ready"], env);
    assertEquals(code, 1);
    assertMatch(err, reason);
  }
});

Deno.test("a signature that does not fit its key ends the release", async () => {
  await using at = await place();
  await Deno.writeTextFile(
    `${at.folder}/minisign`,
    MINISIGN.replace("$(tail -n 1", "x$(tail -n 1"),
  );
  const env = { SWITCHYARD_SIGNING_KEY: `${at.folder}/key` };
  const { code, err } = await at.sign([at.file, "comment", `${at.folder}/public`], env);
  assertEquals([code, err], [1, "sign.sh: The signature is not good.\n"]);
});

Deno.test("wrong arguments of the signer print its usage", async () => {
  await using at = await place();
  for (const args of [[], ["raedy"], ["a", "b"]]) assertEquals((await at.sign(args, {})).code, 2);
});

Deno.test("a release checks its signing key before it builds anything", async () => {
  const text = await Deno.readTextFile(`${ROOT}scripts/release`);
  const asked = text.indexOf("scripts/packaging/sign.sh ready || die");
  assertEquals(asked > 0 && asked < text.indexOf('say "executables"'), true);
});

Deno.test("an exception from the shell check of a release is directly above its command", async () => {
  const text = await Deno.readTextFile(`${ROOT}scripts/release`);
  const commands = [...text.matchAll(/# shellcheck disable=SC2086.*\n((?:.*\\\n)*.*)/g)];
  assertEquals(commands.map(([, command]) => / \$[a-z]+( |$)/.test(`${command}`)), [true]);
});
