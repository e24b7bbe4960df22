import { changeMembers, parseMembers, splice } from "../../../formats/edit.ts";

/**
 * Returns the JSON text with `conversation` set in the Response object that begins at `start`. All
 * other bytes stay unchanged. The text must be valid JSON.
 */
export function withConversation(text: string, start: number, conversation: string): string {
  const value = JSON.stringify({ id: conversation });
  return splice(text, changeMembers(start, parseMembers(text, start), [["conversation", value]]));
}
