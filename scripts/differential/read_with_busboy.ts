import { Buffer } from "node:buffer";
import busboy from "busboy";
import type { Reading, SentForm } from "./sent_form.ts";

/** Returns what busboy reads in a form; its error as a text if it refuses the form. */
export function readWithBusboy(
  { contentType, body }: Pick<SentForm, "contentType" | "body">,
): Promise<Reading | string> {
  return new Promise((resolve) => {
    const names: string[] = [];
    const models: string[] = [];
    try {
      const parser = busboy({ headers: { "content-type": contentType } });
      parser.on("field", (name: string, value: string) => {
        names.push(name);
        if (name === "model") models.push(value);
      });
      parser.on("file", (name: string, content: { resume(): void }) => {
        names.push(name);
        if (name === "model") models.push("a file");
        content.resume();
      });
      parser.on("error", (error: Error) => resolve(error.message));
      parser.on("close", () => resolve({ names: names.toSorted(), models }));
      parser.end(Buffer.from(body));
    } catch (error) {
      resolve(String(error));
    }
  });
}
