import { success } from "../../core/result.ts";
import type { BoundType, OwnerStore } from "../object_store.ts";
import { keyText } from "../key_text.ts";
import type { Link } from "./link.ts";

/** Returns the owners of one type of object in a database. */
export function newSqliteOwners(link: Link, type: BoundType): OwnerStore {
  const boundOf = (id: string) => ({ type, id: keyText(id) });
  return {
    findBinding: (id) => link.run("findBinding", boundOf(id)),
    async findBindings(ids) {
      if (ids.length === 0) return success(new Map());
      const found = await link.run("findBindings", { type, ids: ids.map(keyText) });
      if (!found.ok) return found;
      return success(
        new Map(ids.flatMap((id) => {
          const binding = found.value.get(keyText(id));
          return binding === undefined ? [] : [[id, binding]];
        })),
      );
    },
    bind: (id, owner) => link.run("bind", { bound: boundOf(id), owner }),
    unbind: (id, account, caller) => link.run("unbind", { bound: boundOf(id), account, caller }),
  };
}
