const REGION = /<think>([\s\S]*?)<\/think>/g;

/** Content without its complete `<think>` regions, and what stood in them, in order and untrimmed. */
export interface Extracted {
  readonly content: string;
  readonly reasoning: string;
}

/** Takes complete paired `<think>…</think>` regions out of assistant content; null when there is none. */
export function extractReasoning(content: string): Extracted | null {
  if (!content.includes("<think>")) return null;
  const regions = [...content.matchAll(REGION)];
  if (regions.length === 0) return null;
  return {
    content: content.replace(REGION, ""),
    reasoning: regions.map(([, inner = ""]) => inner).join(""),
  };
}
