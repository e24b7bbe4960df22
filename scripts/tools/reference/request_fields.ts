import { relayedTreatment } from "../../../src/api/messages/relay/fields.ts";
import { translatedTreatment as messagesTreatment } from "../../../src/api/messages/parse/field_treatment.ts";
import { MESSAGES_FIELDS, type MessagesField } from "../../../src/api/messages/parse/fields.ts";
import { nativeTreatment } from "../../../src/api/responses/native/fields.ts";
import { translatedTreatment } from "../../../src/api/responses/parse/field_treatment.ts";
import { RESPONSES_FIELDS, type ResponsesField } from "../../../src/api/responses/parse/fields.ts";
import { CHAT_FIELDS } from "../../../src/prompt/chat_fields.ts";
import { EMBEDDINGS_FIELDS } from "../../../src/wires/embeddings_fields.ts";
import { exact, refused, type Treatment, treatmentOf } from "../../../src/prompt/field_table.ts";
import { wires } from "../../../src/wires/registry.ts";
import type { Wire } from "../../../src/wires/wire.ts";
import { generatedNote, tableText } from "./markdown.ts";

/** Treatment of the fields of one client API by one kind of target. */
interface TargetColumn {
  readonly title: string;
  treatment(path: string): Treatment;
  /** Treatment of a field that the page does not name. */
  readonly others: Treatment;
}

/** The request fields of one client API. */
interface ApiSection {
  /** Name of the client API in the registry. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly paths: readonly string[];
  readonly columns: readonly TargetColumn[];
}

/** Every client API whose requests are sent to targets of more than one protocol. */
export const API_SECTIONS: readonly ApiSection[] = [
  {
    name: "chat_completions",
    title: "Chat Completions",
    about:
      "The rows below `messages[system]` hold for `developer` too, those below `messages[]` for each\n" +
      "message that may have the part. An embedded object keeps the mark of the object around it: behind a\n" +
      "gated or refused row, all rows below are gated or refused.",
    paths: CHAT_FIELDS,
    columns: Object.values(wires).map((wire) => ({
      title: `\`${wire.name}\``,
      treatment: (path) => treatmentOf(wire.fields, path),
      others: wire.fields.others,
    })),
  },
  {
    name: "responses",
    title: "Responses",
    about:
      "A target with the Responses API (type `compat` with `upstream_request_type: responses`) gets the\n" +
      "client's own document; this is the column `native`. For other targets the gateway translates the request\n" +
      "to Chat Completions and generates the response. Unknown members of items and tools are dropped: clients\n" +
      "send back whole items of other servers.",
    paths: Object.keys(RESPONSES_FIELDS.rows),
    columns: [
      { title: "native", treatment: nativeTreatment, others: exact },
      ...[wires.compat, wires.messages, wires.local].map(translatedColumn),
    ],
  },
  {
    name: "messages",
    title: "Messages",
    about:
      "A target of type `messages` gets the client's own text. For other targets the gateway translates the\n" +
      "request and generates the message. Text blocks are the same in `system` and in each message and tool\n" +
      "result; images and documents have the same members in a tool result. Unknown members are refused unless\n" +
      "they are `null`. Refusals are in the words of the Messages API, with dotted paths.",
    paths: Object.keys(MESSAGES_FIELDS.rows),
    columns: [
      { title: "`messages`", treatment: relayedTreatment, others: exact },
      ...[wires.compat, wires.responses, wires.local].map((wire: Wire) => ({
        title: `\`${wire.name}\``,
        treatment: (path: string) =>
          isMessagesField(path) ? messagesTreatment(path, wire) : refused,
        others: MESSAGES_FIELDS.others,
      })),
    ],
  },
  {
    name: "embeddings",
    title: "Embeddings",
    about:
      "Type `messages` has no embeddings. A provider with `upstream_request_type: responses` serves them as\n" +
      "`compat`.",
    paths: EMBEDDINGS_FIELDS,
    columns: [wires.compat, wires.messages, wires.local].map((wire: Wire) => ({
      title: `\`${wire.name}\``,
      treatment: (path) =>
        wire.embeddings === null ? refused : treatmentOf(wire.embeddings.fields, path),
      others: wire.embeddings?.fields.others ?? refused,
    })),
  },
];

function translatedColumn(wire: Wire): TargetColumn {
  return {
    title: `\`${wire.name}\``,
    treatment: (path) => isResponsesField(path) ? translatedTreatment(path, wire) : refused,
    others: RESPONSES_FIELDS.others,
  };
}

function isResponsesField(path: string): path is ResponsesField {
  return Object.hasOwn(RESPONSES_FIELDS.rows, path);
}

function isMessagesField(path: string): path is MessagesField {
  return Object.hasOwn(MESSAGES_FIELDS.rows, path);
}

/** Returns the page `docs/reference/request-fields.md`. */
export function requestFieldsPage(): string {
  return `# Request fields

${generatedNote("the field tables next to the code that encodes requests, `src/wires/*/fields.ts`")}

What happens with each request field depends on the type of the provider. \`responses\` is a provider of
type \`compat\` with \`upstream_request_type: responses\`.

${
    tableText(["mark", "meaning"], [
      ["exact", "sent with nothing lost, under the name that the provider's protocol has for it"],
      [
        "lossy",
        "accepted; only a part is sent. The response header `X-Gateway-Lossy` names the field",
      ],
      [
        "verified",
        "accepted; the provider does not enforce it, so the gateway checks the response. The response header `X-Gateway-Verified` names the field. With `verify: false` at the provider, refused",
      ],
      ["gated", "exact if the provider declares this capability, else refused"],
      [
        "refused",
        "the target is skipped; if no other is left, 400 `unsupported_feature` with the path of the field",
      ],
      ["ignored", "accepted and not sent, because it requests nothing of the provider"],
    ])
  }

\`null\` is as good as no field. In paths, \`tools[function]\` is an element or object of this type or role,
\`tool_choice=none\` is a value, and \`functions[]\` is any element.

[X-Gateway-Lossy](../guide/routing.md#lossy-and-verified-fields) names the fields of one request.

${API_SECTIONS.map(sectionText).join("\n\n")}
`;
}

function sectionText({ title, about, paths, columns }: ApiSection): string {
  const rows = [
    ...paths.map((path) => [
      `\`${path}\``,
      ...columns.map((column) => treatmentText(column.treatment(path))),
    ]),
    ["any other field", ...columns.map(({ others }) => treatmentText(others))],
  ];
  return `## ${title}\n\n${about}\n\n${
    tableText(["field", ...columns.map((column) => column.title)], rows)
  }`;
}

function treatmentText(treatment: Treatment): string {
  const note = treatment.note === undefined ? "" : ` (${treatment.note})`;
  return markText(treatment) + note;
}

function markText(treatment: Treatment): string {
  switch (treatment.kind) {
    case "lossy":
      return `lossy: keeps ${treatment.keeps}`;
    case "gated":
      return `gated: \`${treatment.capability}\``;
    case "refused":
    case "verified": {
      const noOps = (treatment.unless ?? []).map((value) => `\`${JSON.stringify(value)}\``);
      return noOps.length === 0
        ? treatment.kind
        : `${treatment.kind}; ${noOps.join(", ")}: ignored`;
    }
    case "exact":
    case "ignored":
      return treatment.kind;
  }
}
