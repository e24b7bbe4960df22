import { keptName } from "../../core/text_beginning.ts";

/** Kinds of content that a tool message of Chat cannot hold. */
export type MovedKind = "image" | "document";

/**
 * Texts around an image or file of a tool's result that is sent in a user message after the
 * results.
 */
export interface MovedTexts {
  /** In place of it, in the tool message. */
  readonly placeholder: string;
  /** Before it, in the user message. */
  readonly title: string;
}

const TITLES: Readonly<Record<MovedKind, string>> = { image: "Image", document: "Document" };

/**
 * Returns the texts for the images and files of the result of one call, which are numbered by kind.
 * Each has the ID of its call, of a long one the beginning.
 */
export function newMovedTexts(callId: string): (kind: MovedKind) => MovedTexts {
  const counts = { image: 0, document: 0 };
  const id = keptName(callId);
  return (kind) => {
    const number = ++counts[kind];
    return {
      placeholder: `[${kind} ${number}: see the next message]`,
      title: `${TITLES[kind]} ${number} of the result of ${id}:`,
    };
  };
}
