// JavaScript, because an executable has this file next to the program under the same name, as the
// bundle of this one.
import { newRecordThread } from "./worker.ts";

const receive = newRecordThread((reply) => self.postMessage(reply));
self.onmessage = ({ data }) => receive(data);
