import { earlyErrorRecord } from "../../../src/api/messages/errors.ts";
import { responseError } from "../../../src/api/responses/generate/error_code.ts";
import {
  type Failure,
  type FaultKind,
  FAULTS,
  type RefusalKind,
  REFUSALS,
} from "../../../src/core/failure/failure.ts";
import { fault, refuse } from "../../../src/core/failure/result.ts";
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
  /** Last event of a stream whose head was sent early. */
  readonly early: string;
  readonly doc: FailureDoc;
}

const EARLY_COLUMN = "after an early head";

/** Faults that no attempt has, or whose client has left. */
const UNREPORTED: readonly FaultKind[] = ["no_route", "client_cancelled", "upstream_idle"];

/** Refusals that may end a call that has begun: a shutdown ends its stream. */
const REPORTED: readonly RefusalKind[] = ["draining"];

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

"After an early head" has the words of a stream that [began early](../guide/streaming.md#a-sign-of-life-while-the-model-thinks):
\`error.type\` of Messages, then \`error.code\` of Responses, whose messages begin with the code of the gateway in brackets. Chat
streams end with the error of this table and \`[DONE]\`. With the status of a provider 429 and 5xx are as here, and other
4xx have their own type and \`invalid_prompt\`. What is refused before an attempt has its status and no early head.

${
    tableText(
      ["status", "`code`", "`type`", "retried", "falls back", "`end`", EARLY_COLUMN],
      coded.map((entry) => [`${entry.status}`, `\`${entry.code}\``, ...treatment(entry)]),
    )
  }

These failures have no code of the gateway. An error of a provider keeps its status, \`type\`, \`param\` and
\`code\`. The names are the values of \`outcome\` in metrics and of \`tries\` in the access line.

${
    tableText(
      ["failure", "status", "`type`", "retried", "falls back", "`end`", EARLY_COLUMN],
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
    return {
      kind,
      status,
      code,
      type,
      isRetried: false,
      fallsBack: false,
      logEnd,
      early: REPORTED.includes(kind) ? earlyWords(refuse(kind, "").failure) : "–",
      doc,
    };
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
      early: status === "upstream" ? "by its status" : earlyWordsOf(kind),
      doc: FAULT_DOCS[kind],
    };
  });
  return [...refusals, ...faults];
}

function earlyWordsOf(kind: FaultKind): string {
  return UNREPORTED.includes(kind) ? "–" : earlyWords(fault(kind, "").failure);
}

/** Returns the type and the code of a failure after an early head, in Messages and Responses. */
function earlyWords(failure: Failure): string {
  const { error } = JSON.parse(earlyErrorRecord(failure, "").data);
  return `\`${error.type}\`, \`${responseError(failure).code}\``;
}

function keysOf<Key extends string>(table: Readonly<Record<Key, unknown>>): readonly Key[] {
  return Object.keys(table) as Key[];
}

function treatment({ type, isRetried, fallsBack, logEnd, early }: ErrorEntry): readonly string[] {
  const shown = type === "upstream" ? "as the provider responded" : `\`${type}\``;
  return [shown, isRetried ? "yes" : "no", fallsBack ? "yes" : "no", `\`${logEnd}\``, early];
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
