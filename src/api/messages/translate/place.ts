/** Place of a block in the client's request. */
export interface Place {
  /** Path in refusals. Inside a tool result it names the type of that block, as the vendor does. */
  readonly at: string;
  /** Path in the list of fields that are carried in part. */
  readonly field: string;
}

/** Returns the place of a block in the content of a message. */
export function blockPlace(message: number, block: number): Place {
  const path = `messages.${message}.content.${block}`;
  return { at: path, field: path };
}

/** Returns the place of a block in the content of a tool result. */
export function innerPlace({ at, field }: Place, index: number): Place {
  return { at: `${at}.tool_result.content.${index}`, field: `${field}.content.${index}` };
}
