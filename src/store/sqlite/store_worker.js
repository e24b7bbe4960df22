// JavaScript, because an executable has this file next to the program under the same name, as the
// bundle of this one.
import { newDatabaseThread } from "./worker.ts";

const receive = newDatabaseThread((reply, moved) => self.postMessage(reply, moved));
self.onmessage = ({ data }) => receive(data);
