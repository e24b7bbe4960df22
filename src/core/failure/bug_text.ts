/**
 * Returns the name and the first stack frames of an error for the log. The message is left out,
 * because it may hold secrets or content.
 */
export function bugText(error: unknown): string {
  return error instanceof Error ? `${error.name}\n${stackFrames(error)}` : "not an error";
}

function stackFrames(error: Error): string {
  return (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)).slice(0, 4)
    .join("\n");
}
