import { answerOf, bodyOf, errorText, hasRecords } from "./bodies.ts";
import type { Break } from "./break.ts";
import type { Column } from "./columns.ts";

const encoder = new TextEncoder();
const always = () => true;

const isWhole = ({ delivery }: Column) => delivery === "JSON";

/** Whole JSON bodies that are no answer. */
function wholeBreak(name: string, textOf: (column: Column, text: string) => string): Break {
  return {
    name,
    phase: "within the content",
    isUntaken: false,
    fits: isWhole,
    async answer(request) {
      const response = await request.whole();
      const text = encoder.encode(textOf(request.column, await response.text()));
      return answerOf(bodyOf([text], "close", request), response);
    },
  };
}

const MIB = encoder.encode(" ".repeat(1024 * 1024));

const OVERSIZE_BODY: Break = {
  name: "a body of more than 64 MiB",
  phase: "within the content",
  isUntaken: false,
  // Every whole body is read by the same code; this one costs much.
  fits: ({ call, type }) => call === "chat JSON" && type === "compat",
  async answer(request) {
    const pieces = Array.from({ length: 65 }, () => MIB);
    const { headers } = await request.whole();
    return answerOf(bodyOf(pieces, "close", request), { headers });
  },
};

/** Returns the whole answer with another content type. */
function contentType(name: string, type: string | null, fits: Break["fits"]): Break {
  return {
    name,
    phase: "the headers",
    isUntaken: false,
    fits,
    async answer(request) {
      const text = encoder.encode(await (await request.whole()).text());
      const headers = new Headers(type === null ? {} : { "content-type": type });
      return answerOf(bodyOf([text], "close", request), { headers });
    },
  };
}

const PAGE = encoder.encode("<!doctype html><title>Sign in</title>");

const HTML = { headers: new Headers({ "content-type": "text/html" }) };

/** Page of a proxy or a captive network in place of the provider's response. */
const HTML_PAGE: Break = {
  name: "an HTML page with status 200",
  phase: "the headers",
  isUntaken: false,
  fits: always,
  answer: (request) =>
    Promise.resolve(
      answerOf(bodyOf([PAGE], "close", request), HTML),
    ),
};

/** Answers that are called something else, or are something else. */
export const OTHER_TYPES: readonly Break[] = [
  HTML_PAGE,
  contentType("the answer without a content type", null, always),
  contentType("the answer as `text/plain`", "text/plain", always),
  contentType("the answer as `application/json`", "application/json", hasRecords),
  contentType("the answer as `text/event-stream`", "text/event-stream", isWhole),
];

/** Whole bodies with something else in place of the answer. */
export const OTHER_CONTENTS: readonly Break[] = [
  wholeBreak("invalid JSON", (_column, text) => `${text.slice(0, -1)},}`),
  wholeBreak("JSON of another type", () => "[1]"),
  wholeBreak("an error with status 200", ({ type }) => errorText(type)),
  OVERSIZE_BODY,
];
