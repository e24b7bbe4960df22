import { pythonWith } from "../tools/package_cache.ts";

const SIGNER = new URL("sign_with_botocore.py", import.meta.url);
const FIXTURES = new URL("../../tests/upstream/aws_signatures.jsonl", import.meta.url);

/** Writes the requests that botocore has signed, with which the tests compare the gateway. */
async function writeFixtures(): Promise<void> {
  const script = await Deno.readTextFile(SIGNER);
  const python = await pythonWith(/^# pip: (.+)$/m.exec(script)?.[1]?.split(" ") ?? []);
  const { success, stdout } = await new Deno.Command(python, {
    args: [SIGNER.pathname],
    stdin: "null",
    stderr: "inherit",
  }).output();
  if (!success) throw new Error(`${SIGNER.pathname} failed`);
  await Deno.writeFile(FIXTURES, stdout);
}

if (import.meta.main) await writeFixtures();
