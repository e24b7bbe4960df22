import { FAULTS, REFUSALS } from "../../../src/core/failure/failure.ts";
import { FAULT_DOCS } from "./fault_docs.ts";
import { type FailureDoc, REFUSAL_DOCS } from "../../../src/core/failure/refusal_docs.ts";
import { typeOfStatus } from "../../../src/core/failure/openai_error.ts";
import { generatedNote, tableText } from "./markdown.ts";

/** One kind of failure with its columns of the page. */
interface ErrorEntry {
  readonly kind: string;
  readonly status: number | "upstream";
  /** `code` of the error; null if the gateway gives it none. */
  readonly code: string | null;
  readonly type: string;
  readonly isRetried: boolean;
  readonly fallsBack: boolean;
  readonly logEnd: string;
  readonly doc: FailureDoc;
}

/** Returns the page `docs/reference/errors.md`. */
export function errorsPage(): string {
  const all = entries().toSorted((a, b) => Number(a.status) - Number(b.status));
  const coded = all.filter(({ code }) => code !== null);
  const others = entries().filter(({ code }) => code === null);
  return `# Errors

${
    generatedNote(
      "`src/core/failure/failure.ts`, `src/core/failure/refusal_docs.ts` and `scripts/tools/reference/fault_docs.ts`",
    )
  }

Every error has the shape of the OpenAI API: \`{"error": {"message", "type", "param", "code"}}\`. \`code\`
is for programs, \`param\` is the path of the field that is wrong.

"Retried" means: the gateway sends the request to the same target again, if \`retry\` permits it. "Falls
back" means: it then tries the next target of the route. Requests with side effects, such as stored
responses, are repeated only if the provider certainly did not begin. Nothing is repeated after the first
byte was delivered to the client. \`end\` is the value in the [access line](log-fields.md).

${
    tableText(
      ["status", "`code`", "`type`", "retried", "falls back", "`end`"],
      coded.map((entry) => [`${entry.status}`, `\`${entry.code}\``, ...treatment(entry)]),
    )
  }

These failures have no code of the gateway. An error of a provider keeps its status, \`type\`, \`param\` and
\`code\`. The names are the values of \`outcome\` in metrics and of \`tries\` in the access line.

${
    tableText(
      ["failure", "status", "`type`", "retried", "falls back", "`end`"],
      others.map((entry) => [
        `\`${entry.kind}\``,
        entry.status === "upstream" ? "as the provider responded" : `${entry.status}`,
        ...treatment(entry),
      ]),
    )
  }

## Causes and cures

${[...coded, ...others].map(entryText).join("\n\n")}

## Try it

\`\`\`sh
curl http://127.0.0.1:8080/v1/chat/completions -d '{"messages": "Hello"}' # 400 invalid_type
curl http://127.0.0.1:8080/v1/chat/completions -d '{"messages": []}'      # 400 missing_required_parameter
curl http://127.0.0.1:8080/v1/nothing                                     # 404 unknown_url
\`\`\`
`;
}

function entries(): readonly ErrorEntry[] {
  const refusals = keysOf(REFUSALS).map((kind): ErrorEntry => {
    const { status, code = kind, logEnd } = REFUSALS[kind];
    const doc = REFUSAL_DOCS[kind];
    const type = typeOfStatus(status);
    return { kind, status, code, type, isRetried: false, fallsBack: false, logEnd, doc };
  });
  const faults = keysOf(FAULTS).map((kind): ErrorEntry => {
    const { status, type, code, retry, fallback, logEnd } = FAULTS[kind];
    return {
      kind,
      status,
      code: code === "kind" ? kind : null,
      type,
      isRetried: retry,
      fallsBack: fallback !== null,
      logEnd,
      doc: FAULT_DOCS[kind],
    };
  });
  return [...refusals, ...faults];
}

function keysOf<Key extends string>(table: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(table) as Key[];
}

function treatment({ type, isRetried, fallsBack, logEnd }: ErrorEntry): readonly string[] {
  const shown = type === "upstream" ? "as the provider responded" : `\`${type}\``;
  return [shown, isRetried ? "yes" : "no", fallsBack ? "yes" : "no", `\`${logEnd}\``];
}

function entryText({ kind, code, status, doc }: ErrorEntry): string {
  const title = code === null || code === kind ? kind : `${code} (${status})`;
  return [
    `### ${title}`,
    "",
    `- Cause: ${doc.cause}`,
    `- Cure: ${doc.cure}`,
    `- Example: "${doc.example}"`,
  ].join("\n");
}
