import { fail, type Result, succeed } from '../model/result.ts';

const [quote, backslash] = [0x22, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** So much of the rest is looked at for the name of a list, as looking at all of it for each list of many takes ever longer. */
const NAME_LENGTH = 32;

/** What stands in place of an item in the rest of the list. */
const PLACE = '0';

/**
 * Cuts the JSON of a Kubernetes list into its items while it arrives, so that neither its text nor all of its items are ever in memory at
 * once: a list of 5,000 Nodes is 50 MB, and takes 29 MB so instead of 270 MB. Pieces may end anywhere. What is no list is left to {@link end}.
 */
export class ListReader {
  /** All but the items, one character for each byte. */
  #rest = '';
  /** Its end. */
  #tail = '';
  #item: Buffer[] = [];
  #depth = 0;
  #place: 'outside' | 'items' | 'item' = 'outside';
  #inString = false;
  #isEscaped = false;

  /** The items that are complete with this piece, as they are; the error says why one is no JSON. */
  push(piece: Buffer): Result<readonly unknown[], string> {
    const items: unknown[] = [];
    let start = 0;
    let [depth, inString, isEscaped] = [this.#depth, this.#inString, this.#isEscaped];
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at];
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) inString = false;
      } else if (byte === quote) {
        inString = true;
      } else if (byte === openBrace || byte === openBracket) {
        depth += 1;
        const begins = depth === 3 && this.#place === 'items' && byte === openBrace;
        if (!begins && !(depth === 2 && byte === openBracket)) continue;
        this.#leave(piece.toString('latin1', start, at));
        start = at;
        if (begins) this.#beginItem();
        else if (/"items"\s*:\s*$/.test(this.#tail)) this.#place = 'items';
      } else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (this.#place === 'item' && depth === 2) {
          this.#item.push(piece.subarray(start, at + 1));
          start = at + 1;
          const item = this.#endItem();
          if (!item.ok) return item;
          items.push(item.value);
        } else if (this.#place === 'items' && depth === 1) this.#place = 'outside';
      }
    }
    [this.#depth, this.#inString, this.#isEscaped] = [depth, inString, isEscaped];
    if (this.#place === 'item') this.#item.push(piece.subarray(start));
    else this.#leave(piece.toString('latin1', start));
    return succeed(items);
  }

  /** The list without the items that were given out, once there are no more pieces; undefined when there was nothing at all. */
  end(): Result<unknown, string> {
    if (this.#rest === '') return succeed(undefined);
    const json = parse(Buffer.from(this.#rest, 'latin1'));
    return json.ok ? succeed(withoutPlaces(json.value)) : json;
  }

  #leave(text: string): void {
    this.#rest += text;
    this.#tail = (this.#tail + text).slice(-NAME_LENGTH);
  }

  #beginItem(): void {
    this.#leave(PLACE);
    this.#place = 'item';
  }

  #endItem(): Result<unknown, string> {
    const [only, ...more] = this.#item;
    const item = parse(only && more.length === 0 ? only : Buffer.concat(this.#item));
    this.#item = [];
    this.#place = 'items';
    return item;
  }
}

function parse(text: Buffer): Result<unknown, string> {
  try {
    return succeed(JSON.parse(text.toString('utf8')));
  } catch (error) {
    return fail(String(error));
  }
}

/** What else is among the items stays, and is none. */
function withoutPlaces(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || !('items' in json) || !Array.isArray(json.items)) return json;
  return { ...json, items: json.items.filter((item) => item !== Number(PLACE)) };
}
