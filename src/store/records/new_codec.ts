import { parseEncryptionKey } from "../../formats/encryption_key.ts";
import type { StoreLog } from "../store_dependencies.ts";
import { newEncryptingCodec } from "./encrypting_codec.ts";
import { newPlainCodec } from "./plain_codec.ts";
import type { RecordCodec } from "./record_codec.ts";
import { unreadableMessage, type UnreadableRecord } from "./record_version.ts";

/**
 * Returns the codec of the checked keys in `state.encryption_keys`; without keys nothing is
 * encrypted. Each record that cannot be read is an error in the log.
 */
export function newRecordCodec(encryptionKeys: readonly string[], log: StoreLog): RecordCodec {
  const onUnreadable = (record: UnreadableRecord) => log.error(unreadableMessage(record));
  const [first, ...further] = encryptionKeys.flatMap((text) => parseEncryptionKey(text) ?? []);
  return first === undefined
    ? newPlainCodec(onUnreadable)
    : newEncryptingCodec([first, ...further], onUnreadable);
}
