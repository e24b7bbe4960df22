import type { StreamEvent } from "../../core/stream/events.ts";
import type { Decoder } from "../../core/stream/stream.ts";

/** Facts of the content of a response, from its events as the provider sent them. */
export interface ContentWatch {
  push(event: StreamEvent): void;
  /** True once the response has content, or is over. */
  hasContent(): boolean;
  /** True once the filter of the provider has ended the response before any content. */
  isFiltered(): boolean;
}

/** Returns the watch of a response without events. */
export function newContentWatch(): ContentWatch {
  let state: "empty" | "refused" | "content" | "filtered" | "ended" = "empty";
  return {
    push(event) {
      if (state === "content") return;
      if (event.type === "finish") {
        state = event.reason === "content_filter" ? "filtered" : "ended";
      } else if (event.type === "refusal") {
        // A filter that explains itself does so in place of the content.
        if (event.delta !== "") state = "refused";
      } else if (hasContent(event)) state = "content";
    },
    hasContent: () => state !== "empty",
    isFiltered: () => state === "filtered",
  };
}

/** Returns the decoder with a watch of its events, before anything holds them back. */
export function newWatchedDecoder(
  decoder: Decoder,
): { readonly decoder: Decoder; readonly watch: ContentWatch } {
  const watch = newContentWatch();
  return {
    decoder: {
      ...decoder,
      push(record) {
        const events = decoder.push(record);
        if (events.ok) { for (const event of events.value) watch.push(event); }
        return events;
      },
      end() {
        const events = decoder.end();
        if (events.ok) { for (const event of events.value) watch.push(event); }
        return events;
      },
    },
    watch: {
      ...watch,
      hasContent: () => watch.hasContent() || decoder.hasContent?.() === true,
    },
  };
}

function hasContent(event: StreamEvent): boolean {
  switch (event.type) {
    case "text":
    case "reasoning":
    case "tool_arguments":
      return event.delta !== "";
    case "thinking_block":
    case "tool_call":
    case "annotation":
      return true;
    default:
      return false;
  }
}
