declare const listed: unique symbol;

/** Names of the members that an object may have. Only a field table can make such a list. */
export type Members = readonly string[] & { readonly [listed]: true };
