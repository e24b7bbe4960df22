/** Runs a program with a text as its input. Returns its output, without that to stderr. */
export async function runWithInput(
  program: string,
  options: Pick<Deno.CommandOptions, "args" | "env">,
  input: string,
): Promise<{ readonly success: boolean; readonly stdout: string }> {
  const child = new Deno.Command(program, {
    ...options,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout } = await child.output();
  return { success, stdout: new TextDecoder().decode(stdout) };
}
