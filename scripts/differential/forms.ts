import fc from "fast-check";
import { pythonWith } from "../tools/package_cache.ts";
import { type DrawnForm, drawnForms } from "./drawn_forms.ts";
import { readWithBusboy } from "./read_with_busboy.ts";
import { type Reading, type SentForm, sentForm } from "./sent_form.ts";

/** Number of forms that are drawn at a time. */
const BATCH_COUNT = 1_000;

/** Highest number of disagreements that are printed. */
const MAX_PRINTED = 20;

const READERS = new URL("python_readers.py", import.meta.url);

/** A form that a parser reads in another way than the gateway. */
interface Disagreement {
  readonly parser: string;
  readonly form: SentForm;
  /** Reading of the other parser, or its error. */
  readonly other: Reading | string;
}

/** Returns the disagreements of these readings with that of the gateway. */
function disagreements(
  form: SentForm,
  readings: Readonly<Record<string, Reading | string>>,
): readonly Disagreement[] {
  const own = JSON.stringify(form.reading);
  return Object.entries(readings).flatMap(([parser, other]) =>
    own === JSON.stringify(other) ? [] : [{ parser, form, other }]
  );
}

/** Parsers in a Python process that answers each line with a line. */
interface PythonReaders extends AsyncDisposable {
  read(form: SentForm): Promise<Readonly<Record<string, Reading | string>>>;
}

/** Returns a Python with the packages of the readers. */
async function pythonOfReaders(): Promise<string> {
  const script = await Deno.readTextFile(READERS);
  return await pythonWith(/^# pip: (.+)$/m.exec(script)?.[1]?.split(" ") ?? []);
}

/** Starts the readers with this Python. */
export function startPythonReaders(python: string): PythonReaders {
  const process = new Deno.Command(python, {
    args: [READERS.pathname],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = process.stdin.getWriter();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let received = "";
  return {
    async read({ contentType, body }) {
      const line = `${JSON.stringify({ contentType, body: body.toBase64() })}\n`;
      await writer.write(new TextEncoder().encode(line));
      while (!received.includes("\n")) {
        const { done, value } = await reader.read();
        if (done) throw new Error("The Python readers have ended.");
        received += value;
      }
      const end = received.indexOf("\n");
      const answer = JSON.parse(received.slice(0, end));
      received = received.slice(end + 1);
      return answer;
    },
    async [Symbol.asyncDispose]() {
      await writer.close();
      await process.status;
    },
  };
}

function printed({ parser, form, other }: Disagreement): string {
  const body = JSON.stringify(new TextDecoder("latin1").decode(form.body));
  return [
    `${parser} reads ${JSON.stringify(other)}`,
    `  the gateway reads ${JSON.stringify(form.reading)}`,
    `  in ${form.contentType}`,
    `  ${body}`,
  ].join("\n");
}

/** Compares the parsers over forms that the gateway accepts; returns true if all agree. */
async function compare(wanted: number, firstSeed: number): Promise<boolean> {
  await using python = startPythonReaders(await pythonOfReaders());
  const found: Disagreement[] = [];
  let drawn = 0;
  let accepted = 0;
  for (let seed = firstSeed; accepted < wanted; seed++) {
    const forms: readonly DrawnForm[] = fc.sample(drawnForms, { seed, numRuns: BATCH_COUNT });
    for (const one of forms) {
      if (accepted >= wanted) break;
      drawn += 1;
      const form = sentForm(one);
      if (form === null) continue;
      accepted += 1;
      const readings = { busboy: await readWithBusboy(form), ...await python.read(form) };
      found.push(...disagreements(form, readings));
    }
  }
  for (const one of found.slice(0, MAX_PRINTED)) console.log(printed(one));
  console.log(`${drawn} forms drawn, ${accepted} accepted, ${found.length} disagreements`);
  return found.length === 0;
}

if (import.meta.main) {
  const [forms = "10000", seed = "1"] = Deno.args;
  if (!await compare(Number(forms), Number(seed))) Deno.exit(1);
}
