import { changeMembers, parseMembers, splice } from "../../../formats/edit.ts";

/**
 * The text in which the Response object that begins at `start` tells this conversation; everything
 * else stands as it stood. The text must be one that `JSON.parse` accepts.
 */
export function associated(text: string, start: number, conversation: string): string {
  const value = JSON.stringify({ id: conversation });
  return splice(text, changeMembers(start, parseMembers(text, start), [["conversation", value]]));
}
