import type { Client, Place } from "../../client.ts";
import { agentText, runSession } from "../session.ts";

const OPTIONS = "--yes-always --no-git --no-check-update --analytics-disable --edit-format whole";

/** Returns a file in the format in which aider reads it out of the text of a model. */
function written(text: string): string {
  return `notes.txt\n\`\`\`\n${text}\`\`\`\n`;
}

/** Has a file written, and written again because its test has failed. */
async function edit(place: Place): Promise<void> {
  const model = place.model("sim-plan");
  // aider says something in the name of the assistant between two turns of the model.
  const last = Array.from({ length: 8 }, () => written("one\ntwo\n"));
  const prompt = `sim-plan: ${JSON.stringify([written("one\n"), ...last])}`;
  const { output, work } = await runSession({
    command: "aider",
    args: [
      ...OPTIONS.split(" "),
      "--auto-test",
      ...["--test-cmd", "grep two notes.txt"],
      ...["--message", prompt],
      "notes.txt",
    ],
    environment: { SWITCHYARD_KEY: place.apiKey },
    setup: agentText("aider", place, model),
    files: { "work/notes.txt": "zero\n" },
  });
  const edits = output.split("Applied edit to notes.txt").length - 1;
  if (edits !== 2 || work["notes.txt"] !== "one\ntwo\n") {
    throw new Error(`${JSON.stringify(work)}: ${output.slice(-1500)}`);
  }
}

/** aider, as `switchyard agent aider` sets it up. */
export const client: Client = {
  title: "aider, Chat Completions",
  packages: ["aider-chat==0.86.2"],
  shots: { edit },
};
