/** Kind and place of what was thrown. Never its text, which may hold anything. */
export function bugText(error: unknown): string {
  return error instanceof Error ? `${error.name}\n${stackFrames(error)}` : "not an error";
}

function stackFrames(error: Error): string {
  return (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)).slice(0, 4)
    .join("\n");
}
