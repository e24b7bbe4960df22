const MAIN = new URL("../../tests/support/growth/main.ts", import.meta.url).pathname;

/**
 * Doubles each kind of list that clients and providers can send and prints what grows faster than
 * its list. The exit code is 1 then.
 */
export async function measureGrowth(): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--quiet", MAIN],
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (!success) Deno.exitCode = 1;
}
